"""What is wanted and what is performed: clips, performances, certificates, limits."""

from bunraku.motion.certificate import Certificate, Check, checks_table, stated
from bunraku.motion.choreography import Accent, Choreography, Mode, Primitive
from bunraku.motion.clip import Clip
from bunraku.motion.curves import JointCurves, SkeletonMotion
from bunraku.motion.emphasis import Emphasis
from bunraku.motion.feedback import Feedback
from bunraku.motion.gait import Gait, Swing, Target
from bunraku.motion.kept_verdict import KeptVerdict
from bunraku.motion.limits import Excess, MotionLimits
from bunraku.motion.performance import Channel, Performance, Provenance
from bunraku.motion.sound import Audio, Mark
from bunraku.motion.surface import SurfaceMotion
from bunraku.motion.terrain import HeightField

__all__ = [
    "Accent",
    "Audio",
    "Certificate",
    "Channel",
    "Check",
    "Choreography",
    "Clip",
    "Emphasis",
    "Excess",
    "Feedback",
    "Gait",
    "HeightField",
    "JointCurves",
    "KeptVerdict",
    "Mark",
    "Mode",
    "MotionLimits",
    "Performance",
    "Primitive",
    "Provenance",
    "SkeletonMotion",
    "SurfaceMotion",
    "Swing",
    "Target",
    "checks_table",
    "stated",
]
