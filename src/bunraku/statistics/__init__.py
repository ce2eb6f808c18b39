"""Statistics of small experiments: arrays in, figures out, no noun of Bunraku."""
