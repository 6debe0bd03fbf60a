package dev.warmpath.simulator.fault;

import dev.warmpath.eventingest.Trust;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The table of {@code docs/reliability.md}, made by doing to a rig what it tells of. */
final class ReliabilityPage {

  static final String BEGIN = "<!-- made by FaultMatrixTest -->";
  static final String END = "<!-- end -->";

  private ReliabilityPage() {}

  /** A row for each fault; what differs without a replay socket stands behind a semicolon. */
  static String table() {
    List<String> rows = new ArrayList<>();
    rows.add("| fault | counted as | trust | known: vLLM, SGLang |");
    rows.add("|---|---|---|---|");
    for (Fault fault : Fault.values()) {
      List<String> replayed = cells(fault, true);
      List<String> lost = fault.needsReplay() ? replayed : cells(fault, false);
      List<String> row = new ArrayList<>(List.of(fault.text()));
      for (int cell = 0; cell < replayed.size(); cell++) {
        row.add(both(replayed.get(cell), lost.get(cell)));
      }
      rows.add("| " + String.join(" | ", row) + " |");
    }
    return String.join("\n", rows);
  }

  private static String both(String replayed, String lost) {
    return lost.equals(replayed) ? replayed : replayed + "; " + lost;
  }

  private static List<String> cells(Fault fault, boolean replay) {
    List<FaultRig> rigs = new ArrayList<>();
    for (Form form : Form.values()) {
      FaultRig rig = fault.strike(FaultRig.live(form, replay));
      rig.converge();
      rigs.add(rig);
    }
    return List.of(
        said(rigs, rig -> fault.counted().name().apply(rig)),
        said(rigs, rig -> path(rig.path)),
        said(rigs.subList(0, 2), ReliabilityPage::known)
            + ", "
            + said(rigs.subList(2, 4), ReliabilityPage::known));
  }

  private static String known(FaultRig rig) {
    return rig.known().percent() + " %";
  }

  private static String path(List<Trust> path) {
    return path.stream()
        .map(trust -> trust.name().toLowerCase(Locale.ROOT).replace('_', ' '))
        .collect(Collectors.joining(" → "));
  }

  /** What the forms have in common, or all that they say. */
  private static String said(List<FaultRig> rigs, Function<FaultRig, String> of) {
    return rigs.stream().map(of).distinct().collect(Collectors.joining(" or "));
  }
}
