package dev.warmpath.lab.ingest;

/**
 * What a bench of recovery has found.
 *
 * @param memberships blocks that the engines hold at the end, each engine's counted
 * @param recoveredShare part of them that the new router knows when it is ready
 * @param secondsToReady from the start of its process until it knows 99 % and routes by it
 * @param cpuSecondsToReady what its process computed in that time; NaN where the system does not
 *     say
 * @param checkedPrompts conversations of which its answer was compared with what the engine holds
 * @param overCredits prompts of the sample of which it believes more than the engine holds
 * @param underCredits prompts of the sample of which it believes less
 */
record RecoveryReport(
    long memberships,
    double recoveredShare,
    double secondsToReady,
    double cpuSecondsToReady,
    int checkedPrompts,
    int overCredits,
    int underCredits,
    Snapshot snapshot) {

  /** The last snapshot before the router was killed. */
  record Snapshot(long bytes, double pauseSeconds, double writeSeconds) {}
}
