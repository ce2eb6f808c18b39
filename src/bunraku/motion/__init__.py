"""What is wanted and what is performed: clips, performances, certificates, limits."""

from bunraku.motion.certificate import Certificate, Check
from bunraku.motion.clip import Clip
from bunraku.motion.curves import JointCurves, SkeletonMotion
from bunraku.motion.limits import Excess, MotionLimits
from bunraku.motion.performance import Channel, Performance, Provenance
from bunraku.motion.sound import Audio, Mark

__all__ = [
    "Audio",
    "Certificate",
    "Channel",
    "Check",
    "Clip",
    "Excess",
    "JointCurves",
    "Mark",
    "MotionLimits",
    "Performance",
    "Provenance",
    "SkeletonMotion",
]
