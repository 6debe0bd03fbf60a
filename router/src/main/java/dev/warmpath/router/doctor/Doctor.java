package dev.warmpath.router.doctor;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.doctor.probe.FleetProbe;

/** Examines a fleet. */
public final class Doctor {

  private Doctor() {}

  /** Looks at the fleet of {@code config}, which takes some seconds, and judges what was found. */
  public static DoctorReport examine(RouterConfig config, FleetProbe.Options options)
      throws InterruptedException {
    try (FleetProbe probe = new FleetProbe(config, options)) {
      return new DoctorReport(Checks.of(probe.look()));
    }
  }
}
