"""What a character is made of: frozen, self-validating descriptions in SI units."""

from bunraku.character.body import Body, Foot, Frame, Pose, Shape
from bunraku.character.character import WORLD, Character, free_base
from bunraku.character.end_effector import EndEffector
from bunraku.character.flexible import ElasticMaterial, FlexiblePart, PartHole, PartInterface, PartShape
from bunraku.character.joint import Axis, Coupling, DependentRange, Joint
from bunraku.character.motor import Motor
from bunraku.character.notebook import html_table
from bunraku.character.skin import PATCHES, Skin, SkinMesh
from bunraku.character.string import Carriage, String
from bunraku.character.tendon import Tendon

__all__ = [
    "PATCHES",
    "WORLD",
    "Axis",
    "Body",
    "Carriage",
    "Character",
    "Coupling",
    "DependentRange",
    "ElasticMaterial",
    "EndEffector",
    "FlexiblePart",
    "Foot",
    "Frame",
    "Joint",
    "Motor",
    "PartHole",
    "PartInterface",
    "PartShape",
    "Pose",
    "Shape",
    "Skin",
    "SkinMesh",
    "String",
    "Tendon",
    "free_base",
    "html_table",
]
