package dev.warmpath.router.doctor.check;

import dev.warmpath.router.doctor.probe.FleetFacts;

/** Judges one thing about a fleet. Implementations have no state. */
interface Check {

  /** Adds what it finds; nothing where it does not apply. */
  void look(FleetFacts fleet, Findings into);
}
