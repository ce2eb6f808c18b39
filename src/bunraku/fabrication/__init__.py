"""Making robots: printable parts with screw holes that fit the motors, bill of materials, checks, pictures."""
