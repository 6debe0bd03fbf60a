package dev.warmpath.router.doctor;

/** Whether each source of replicas can be looked at, and finds some. */
final class DiscoveryCheck implements Check {

  @Override
  public void look(FleetFacts fleet, Findings into) {
    fleet.sources().forEach(source -> look(source, into));
  }

  private static void look(DiscoveryFacts source, Findings into) {
    for (String refused : source.refused()) {
      into.warn(
          Finding.ROUTER,
          source.source() + " refuses " + refused,
          "see docs/discovery.md for what a source may name, and `fleet.allowed-hosts`");
    }
    if (source.problem() != null) {
      into.fail(
          Finding.ROUTER,
          source.source() + ": " + source.problem(),
          "correct the source in `discovery`; until it answers it adds no replica");
    } else if (source.found().isEmpty()) {
      into.warn(
          Finding.ROUTER,
          source.source() + " finds no replica",
          "start the engines, or correct where `discovery` looks");
    } else {
      into.ok(Finding.ROUTER, source.source() + " finds " + String.join(", ", source.found()));
    }
  }
}
