package dev.warmpath.router.doctor;

import java.util.Locale;

/** Whether the engines' clocks agree with this machine's. */
final class ClockCheck implements Check {

  private static final double MOST_SECONDS = 5;

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      double ahead = replica.http().clockAheadSeconds();
      if (Math.abs(ahead) > MOST_SECONDS) {
        into.warn(
            replica.name(),
            String.format(
                Locale.ROOT,
                "its clock is %.0f s %s of this machine's",
                Math.abs(ahead),
                ahead > 0 ? "ahead" : "behind"),
            "set both by NTP: templates that print the time, logs and ages of events differ");
      } else if (!Double.isNaN(ahead)) {
        into.ok(replica.name(), "its clock agrees with this machine's");
      }
    }
  }
}
