package dev.warmpath.kvindex.stopped;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A query that is stopped before each of its reads in turn while something is written: its answer
 * must be the one before, or the one after.
 *
 * <p>Immutable.
 *
 * @param newScene the same at each call
 */
record StoppedReader(Supplier<Scene> newScene) {

  /** The first wrong answer, in words. */
  Optional<String> wrongAnswer() {
    List<Integer> before = newScene.get().ask();
    Scene written = newScene.get();
    written.write();
    List<Integer> after = written.ask();
    for (int read = 1; ; read++) {
      Scene scene = newScene.get();
      List<Integer> seen = new ArrayList<>();
      if (!ReadStop.at(read, scene::write, () -> seen.addAll(scene.ask()))) {
        return Optional.empty();
      }
      if (!seen.equals(before) && !seen.equals(after)) {
        return Optional.of(
            "%s instead of %s or %s when stopped before read %d"
                .formatted(seen, before, after, read));
      }
    }
  }
}
