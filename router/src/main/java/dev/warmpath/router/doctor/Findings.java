package dev.warmpath.router.doctor;

import dev.warmpath.router.doctor.Finding.Level;
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

  public Findings(String check) {
    this.check = check;
  }

  /** In the order in which they were found. */
  public List<Finding> all() {
    return all;
  }

  /** All is well. */
  public void ok(String subject, String found) {
    all.add(new Finding(Level.OK, subject, check, found, null));
  }

  /** Something is missing. */
  public void warn(String subject, String found, String change) {
    all.add(new Finding(Level.WARN, subject, check, found, change));
  }

  /** Something is wrong. */
  public void fail(String subject, String found, String change) {
    all.add(new Finding(Level.FAIL, subject, check, found, change));
  }
}
