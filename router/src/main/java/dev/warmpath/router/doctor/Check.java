package dev.warmpath.router.doctor;

/** Judges one thing about a fleet. Implementations have no state. */
public interface Check {

  /** Adds what it finds; nothing where it does not apply. */
  void look(FleetFacts fleet, Findings into);
}
