package dev.warmpath.router.reload;

import java.util.List;

/**
 * What came of a reload: problems, and nothing was changed, or changes.
 *
 * @param applied what holds now
 * @param needsRestart what another configuration says and a reload cannot change
 */
public record ReloadResult(
    List<String> problems, List<ConfigChange> applied, List<ConfigChange> needsRestart) {

  public ReloadResult {
    problems = List.copyOf(problems);
    applied = List.copyOf(applied);
    needsRestart = List.copyOf(needsRestart);
  }

  static ReloadResult refused(List<String> problems) {
    return new ReloadResult(problems, List.of(), List.of());
  }

  static ReloadResult of(List<ConfigChange> changes) {
    return new ReloadResult(
        List.of(),
        changes.stream().filter(ConfigChange::reloadable).toList(),
        changes.stream().filter(change -> !change.reloadable()).toList());
  }

  /** In a word, for metrics. */
  public String label() {
    return !problems.isEmpty() ? "refused" : applied.isEmpty() ? "unchanged" : "applied";
  }
}
