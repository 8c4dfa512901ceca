"""The rivals as Understudy's registry of mechanisms lists them."""

from understudy.mechanisms.registry import GeneratorKind, MechanismKind, Setting

MECHANISMS = (
    MechanismKind(
        "privsyn",
        "understudy_contest.privsyn:PrivSyn",
        "many pairs, and records that are moved until they follow them",
        (Setting("clique", "forced", "cliques", "forced ones"),),
    ),
    MechanismKind(
        "privbayes",
        "understudy_contest.privbayes:PrivBayes",
        "a Bayesian network, chosen and filled privately",
    ),
    MechanismKind(
        "field-groups",
        "understudy_contest.field_groups:FieldGroups",
        "whole histograms of groups of columns",
        (
            Setting("clique", "groups", "cliques", "the groups"),
            Setting("public", "public", "table", "to find groups on"),
        ),
    ),
)

# The GAN of the contest is trained by its own command; a release of it is read like any other.
GENERATORS = (
    GeneratorKind("understudy gradual update", "understudy_contest.gradual_update:GradualUpdate"),
    GeneratorKind("understudy bayesian network", "understudy_contest.bayesian_network:BayesianNetwork"),
    GeneratorKind("understudy group histograms", "understudy_contest.group_histograms:GroupHistograms"),
    GeneratorKind("understudy neural generator", "understudy_contest.neural_generator:NeuralGenerator"),
)
