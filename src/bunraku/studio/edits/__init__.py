"""Everything that can be changed in the studio, as named functions from a document to a document."""
