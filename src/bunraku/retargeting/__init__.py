"""From a mocap skeleton to a character: rig maps, targets and inverse kinematics."""

from bunraku.retargeting.retarget import RetargetReport, RetargetResult, TargetError, retarget

__all__ = ["RetargetReport", "RetargetResult", "TargetError", "retarget"]
