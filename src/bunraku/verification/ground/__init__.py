"""What goes over the ground on wheels or feet: real contact, in many worlds."""
