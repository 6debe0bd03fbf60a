package dev.warmpath.router.doctor;

import java.time.Duration;

/** How long the certificates of {@code https} replicas are valid. */
final class TlsCheck implements Check {

  private static final long WARN_DAYS = 14;

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      TlsFacts tls = replica.tls();
      if (tls == null) {
        continue;
      }
      long days = Duration.between(fleet.now(), tls.notAfter()).toDays();
      String found = "the certificate of %s ends %s".formatted(tls.subject(), tls.notAfter());
      if (tls.notAfter().isBefore(fleet.now())) {
        into.fail(replica.name(), found, "renew it: it has expired");
      } else if (days < WARN_DAYS) {
        into.warn(replica.name(), found, "renew it: %d days are left".formatted(days));
      } else {
        into.ok(replica.name(), found);
      }
    }
  }
}
