"""What goes over the ground on wheels or feet: real contact, under a set of perturbations."""
