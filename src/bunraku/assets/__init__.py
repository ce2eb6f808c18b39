"""Built-in characters, clips and voices, made by this project."""
