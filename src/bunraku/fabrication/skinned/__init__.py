"""Making skinned characters: links and bracing units to print, skin pieces to cast, their moulds and cores."""
