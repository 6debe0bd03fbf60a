package dev.warmpath.router.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All checks, in the order of the report. */
public final class Checks {

  private static final Map<String, Check> ALL = new LinkedHashMap<>();

  static {
    ALL.put("config", new ConfigCheck());
    ALL.put("discovery", new DiscoveryCheck());
    ALL.put("limits", new LimitsCheck());
    ALL.put("reachable", new ReachableCheck());
    ALL.put("tls", new TlsCheck());
    ALL.put("version", new VersionCheck());
    ALL.put("clock", new ClockCheck());
    ALL.put("metrics", new MetricsCheck());
    ALL.put("models", new ModelsCheck());
    ALL.put("events", new EventsCheck());
    ALL.put("replay", new ReplayCheck());
    ALL.put("blocks", new BlocksCheck());
    ALL.put("request", new RequestCheck());
    ALL.put("tokens", new TokensCheck());
    ALL.put("cached-tokens", new CachedTokensCheck());
    ALL.put("transfers", new TransfersCheck());
  }

  private Checks() {}

  /** The names, in the order of the report. */
  public static List<String> names() {
    return List.copyOf(ALL.keySet());
  }

  /** What all checks find. */
  public static List<Finding> of(FleetFacts fleet) {
    List<Finding> all = new ArrayList<>();
    ALL.forEach((name, check) -> {
      Findings findings = new Findings(name);
      check.look(fleet, findings);
      all.addAll(findings.all());
    });
    return all;
  }
}
