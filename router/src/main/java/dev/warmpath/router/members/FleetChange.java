package dev.warmpath.router.members;

import java.util.List;

/**
 * What became of the fleet when a source named other replicas, by the replicas' names.
 *
 * @param added new ones
 * @param leaving those that drain now and leave then
 * @param replaced those whose engine is another one now; what runs at the old one runs on
 * @param adjusted those that have another weight or other models, or drained and stay now
 * @param refused all that are named and not there, those of other sources included
 */
public record FleetChange(
    List<String> added,
    List<String> leaving,
    List<String> replaced,
    List<String> adjusted,
    List<Refusal> refused) {

  /**
   * A replica that was named and is not in the fleet.
   *
   * @param source where it was named
   * @param reason what to change, as a sentence
   */
  public record Refusal(String source, String replica, String reason) {}

  public FleetChange {
    added = List.copyOf(added);
    leaving = List.copyOf(leaving);
    replaced = List.copyOf(replaced);
    adjusted = List.copyOf(adjusted);
    refused = List.copyOf(refused);
  }

  static FleetChange refused(Refusal refusal) {
    return new FleetChange(List.of(), List.of(), List.of(), List.of(), List.of(refusal));
  }

  /** Whether the fleet is what it was. */
  public boolean isEmpty() {
    return added.isEmpty() && leaving.isEmpty() && replaced.isEmpty() && adjusted.isEmpty();
  }
}
