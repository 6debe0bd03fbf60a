package dev.warmpath.router;

import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.members.DnsLook;
import dev.warmpath.router.members.FileLook;
import dev.warmpath.router.members.KubernetesLook;
import dev.warmpath.router.members.Look;
import dev.warmpath.router.members.PolledSource;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;

/** Makes the discovery sources that the configuration lists. */
public final class ReplicaSources {

  private ReplicaSources() {}

  static List<PolledSource> of(List<DiscoveryConfig> configured, LongSupplier nanoClock) {
    return configured.stream()
        .map(source -> new PolledSource(source.name(), look(source), source.interval(), nanoClock))
        .toList();
  }

  /** What looks where {@code source} says. */
  public static Look look(DiscoveryConfig source) {
    return switch (source.kind()) {
      case FILE -> new FileLook(Path.of(String.valueOf(source.file())));
      case DNS -> new DnsLook(source);
      case KUBERNETES -> new KubernetesLook(source);
    };
  }
}
