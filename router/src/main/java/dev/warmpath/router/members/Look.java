package dev.warmpath.router.members;

import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.prompt.InferenceRules;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * One way to find replicas: a file, DNS, an orchestrator. {@link ReplicaSource} decides when to
 * look.
 *
 * <p>Confined to the thread of its source, but for {@link #close}.
 */
public interface Look extends AutoCloseable {

  /**
   * What looks where {@code source} says.
   *
   * @param rules takes what stands there beside the replicas
   */
  static Look of(DiscoveryConfig source, InferenceRules rules) {
    return switch (source.kind()) {
      case FILE -> new FileLook(Path.of(String.valueOf(source.file())));
      case DNS -> new DnsLook(source);
      case KUBERNETES -> new KubernetesLook(source);
      case INFERENCE_POOL -> new InferencePoolLook(source, rules);
    };
  }

  /**
   * Looks once, in bounded time.
   *
   * @throws IOException if what there is now cannot be known; its message says why
   */
  Found look() throws IOException;

  /** Takes what is to be run, by any thread, when there may be something new. */
  default void onChange(Runnable wake) {}

  /**
   * The replicas are worth so much now; called by one thread, which may be another than the one
   * that looks, and does not wait.
   *
   * @param seconds by replica
   */
  default void worth(Map<String, Double> seconds) {}

  /** Lets go of what looking needs; a look that runs may fail. */
  @Override
  default void close() {}
}
