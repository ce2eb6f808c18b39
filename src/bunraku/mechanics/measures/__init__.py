"""What a motion promises, as checks: limits, balance, holding torques, strings. Certificates and verdicts are made of them."""
