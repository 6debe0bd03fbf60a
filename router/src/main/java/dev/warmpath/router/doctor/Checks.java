package dev.warmpath.router.doctor;

import dev.warmpath.router.doctor.check.Check;
import dev.warmpath.router.doctor.check.Finding;
import dev.warmpath.router.doctor.check.Findings;
import dev.warmpath.router.doctor.check.cache.BlocksCheck;
import dev.warmpath.router.doctor.check.cache.CachedTokensCheck;
import dev.warmpath.router.doctor.check.cache.EventsCheck;
import dev.warmpath.router.doctor.check.cache.ReplayCheck;
import dev.warmpath.router.doctor.check.cache.RequestCheck;
import dev.warmpath.router.doctor.check.cache.TokensCheck;
import dev.warmpath.router.doctor.check.cache.TransfersCheck;
import dev.warmpath.router.doctor.check.replica.ClockCheck;
import dev.warmpath.router.doctor.check.replica.MetricsCheck;
import dev.warmpath.router.doctor.check.replica.ModelsCheck;
import dev.warmpath.router.doctor.check.replica.ReachableCheck;
import dev.warmpath.router.doctor.check.replica.TlsCheck;
import dev.warmpath.router.doctor.check.replica.VersionCheck;
import dev.warmpath.router.doctor.check.router.ConfigCheck;
import dev.warmpath.router.doctor.check.router.DiscoveryCheck;
import dev.warmpath.router.doctor.check.router.LimitsCheck;
import dev.warmpath.router.doctor.facts.FleetFacts;
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
