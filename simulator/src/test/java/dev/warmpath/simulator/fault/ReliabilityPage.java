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

  /** A row for each fault and way of getting over it. */
  static String table() {
    List<String> rows = new ArrayList<>();
    rows.add("| fault | counted as | replay | trust | over | known: vLLM, SGLang |");
    rows.add("|---|---|---|---|---|---|");
    for (Fault fault : Fault.values()) {
      rows.add(row(fault, true));
      if (!fault.needsReplay()) {
        rows.add(row(fault, false));
      }
    }
    return String.join("\n", rows);
  }

  private static String row(Fault fault, boolean replay) {
    List<FaultRig> rigs = new ArrayList<>();
    for (Form form : Form.values()) {
      FaultRig rig = fault.strike(FaultRig.live(form, replay));
      rig.converge();
      rigs.add(rig);
    }
    return "| %s | %s | %s | %s | %s | %s |"
        .formatted(
            fault.text(),
            said(rigs, rig -> fault.counted().name().apply(rig)),
            replay ? "yes" : "no",
            said(rigs, rig -> path(rig.path)),
            said(rigs, rig -> String.valueOf(rig.known().over())),
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
