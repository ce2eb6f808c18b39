"""What was asked, what is promised, how it was verified: as a page or as a document to sign."""
