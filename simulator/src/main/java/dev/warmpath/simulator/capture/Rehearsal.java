package dev.warmpath.simulator.capture;

/**
 * What is done to a capture while it is verified.
 *
 * @param faults what goes wrong on the way
 * @param replays whether what was lost can be asked again; else it is gone
 */
public record Rehearsal(Faults faults, boolean replays) {

  /** Nothing: the capture as it was recorded, and replays where it has some. */
  public static final Rehearsal RECORDED = new Rehearsal(Faults.NONE, true);

  /** Whether nothing is done to it. */
  boolean isRecorded() {
    return faults.equals(Faults.NONE);
  }
}
