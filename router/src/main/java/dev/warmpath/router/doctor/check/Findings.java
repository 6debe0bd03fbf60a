package dev.warmpath.router.doctor.check;

import dev.warmpath.router.doctor.check.Finding.Level;
import java.util.ArrayList;
import java.util.List;

/**
 * Gathers what one check finds.
 *
 * <p>Confined to one thread.
 */
final class Findings {

  private final String check;
  private final List<Finding> all = new ArrayList<>();

  Findings(String check) {
    this.check = check;
  }

  List<Finding> all() {
    return all;
  }

  void ok(String subject, String found) {
    all.add(new Finding(Level.OK, subject, check, found, null));
  }

  void warn(String subject, String found, String change) {
    all.add(new Finding(Level.WARN, subject, check, found, change));
  }

  void fail(String subject, String found, String change) {
    all.add(new Finding(Level.FAIL, subject, check, found, change));
  }
}
