"""What is true whatever the artist wants: bodies, forces and time.

In reading order:

- ``tree``: a character as one kinematic tree, its poses and Jacobians
- ``dynamics``: a tree with springs, forces and constraints as one system: the Lagrangian, its derivatives, rest, accelerations;
  ``dynamics/flexible`` lets parts of the tree bend
- ``integrators``: the variational step through time with exact derivatives; ``integrators/driven`` the same along given motors,
  with sensitivities over their curves
- ``systems``: a character's description as such a system: loops, strings and their carriages, tendons
- ``elastic``: solids of tetrahedra, their materials and meshes, reduced to a few modes
- ``flexible``: characters whose printed parts and rods bend, by those modes
- ``full_order``: the same without reduction: the judge of the modes
- ``identification``: stiffness and damping of a part from a recording of its swing
- ``centroidal``: a character over the ground as masses, wheels and feet: what planning asks of a sample
- ``contact``: friction of feet with the ground as complementarity
- ``coupled``: elastic skins on a moving skeleton, frame by frame
- ``collision``: distances of shapes, and which limbs meet along a motion
- ``measures``: what a motion is judged by: limits, balance, statics, tensions, clearance
"""
