package dev.warmpath.router.doctor;

import dev.warmpath.router.config.ModelConfig;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Whether the names of models are those that the engines serve. */
final class ModelsCheck implements Check {

  @Override
  public void look(FleetFacts fleet, Findings into) {
    Set<String> configured =
        fleet.config().models().stream()
            .map(ModelConfig::name)
            .collect(Collectors.toUnmodifiableSet());
    for (ReplicaFacts replica : fleet.replicas()) {
      if (replica.http().reachable()) {
        look(replica, configured, into);
      }
    }
    notServed(fleet, into);
  }

  private static void look(ReplicaFacts replica, Set<String> configured, Findings into) {
    List<String> served = replica.http().baseModels();
    List<String> unknown = served.stream().filter(model -> !configured.contains(model)).toList();
    if (served.isEmpty()) {
      into.warn(
          replica.name(),
          "GET /v1/models gives no list",
          "let it pass without a key, or name the replica's `models`");
    } else if (unknown.size() == served.size()) {
      into.fail(
          replica.name(),
          "it serves " + String.join(", ", served) + ", and has no tokenizer for that",
          "add to `models`: {name: %s, tokenizer: its folder}".formatted(served.get(0)));
    } else if (!unknown.isEmpty()) {
      into.warn(
          replica.name(),
          "it serves " + String.join(", ", unknown) + " without a tokenizer",
          "requests for that are routed by load: add it to `models`");
    } else {
      into.ok(replica.name(), "it serves " + String.join(", ", served));
    }
  }

  private static void notServed(FleetFacts fleet, Findings into) {
    boolean allKnown =
        !fleet.replicas().isEmpty()
            && fleet.sources().stream().allMatch(source -> source.problem() == null);
    boolean allTold =
        allKnown
            && fleet.replicas().stream()
                .noneMatch(replica -> replica.http().baseModels().isEmpty());
    for (ModelConfig model : fleet.config().models()) {
      boolean served =
          fleet.replicas().stream()
              .anyMatch(replica -> replica.http().baseModels().contains(model.name()));
      if (allTold && !served) {
        into.fail(
            Finding.ROUTER,
            "no replica serves " + model.name(),
            "give the model the name that GET /v1/models of its engines shows");
      }
    }
  }
}
