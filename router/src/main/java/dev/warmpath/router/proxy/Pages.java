package dev.warmpath.router.proxy;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What the router answers itself. Called on event loops; implementations are thread-safe and do not
 * block.
 *
 * <p>Thread-safe.
 */
public interface Pages {

  /**
   * The models of all replicas as {@code /v1/models} lists them; null if no replica is up.
   *
   * @param shown whether a model of the configuration, or one that it does not name, is listed
   */
  @Nullable String models(Predicate<String> shown);

  /**
   * The entry of one model in that list; null if it is not there, or no replica is up.
   *
   * @param id the model's name there
   */
  @Nullable String model(String id, Predicate<String> shown);

  /** How many replicas could take a request. */
  int replicasUp();

  /**
   * Whether some replica may take requests though none is up: it was alive, and only answers its
   * health checks too slowly.
   */
  boolean hasSlowReplica();

  /** How many replicas there are. */
  int replicas();

  /** Whether the engines' events still reach the index. */
  boolean indexing();

  /** How this router's start from a neighbour stands; null if it has none. */
  @Nullable String seed();

  /** How the tokenizers of the configured models stand. */
  Loaded tokenizers();

  /** How many tokenizers are in which state. */
  record Loaded(int ready, int loading, int failed) {}

  /** The metrics as Prometheus scrapes them. */
  String metrics();
}
