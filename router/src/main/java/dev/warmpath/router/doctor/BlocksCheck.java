package dev.warmpath.router.doctor;

import dev.warmpath.kvindex.block.ChainSpace;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Whether the engines of one model cut prompts into the same blocks and hash them alike. */
final class BlocksCheck implements Check {

  private static final String UNKNOWN_SCHEME = "unknown";

  /** An engine whose blocks were seen. */
  private record Seen(String engine, ChainSpace space, String scheme) {

    /** How extra keys are hashed shows only once a block with some was seen: a salt, an image. */
    boolean hashesAs(Seen other) {
      return scheme.equals(other.scheme) || tellsMoreThan(other) || other.tellsMoreThan(this);
    }

    boolean tellsMoreThan(Seen other) {
      return scheme.startsWith(other.scheme + " ");
    }

    String blocks() {
      return space.lookaheadTokens() == 0
          ? space.blockSizeTokens() + " tokens a block"
          : "%d tokens a block and %d ahead"
              .formatted(space.blockSizeTokens(), space.lookaheadTokens());
    }
  }

  @Override
  public void look(FleetFacts fleet, Findings into) {
    Map<String, Seen> first = new LinkedHashMap<>();
    for (ReplicaFacts replica : fleet.replicas()) {
      for (StreamFacts stream : replica.streams()) {
        Seen seen = seen(replica, stream);
        if (seen != null) {
          Seen other = first.putIfAbsent(model(replica), seen);
          compare(seen, other, into);
          if (other != null && seen.tellsMoreThan(other)) {
            first.put(model(replica), seen);
          }
        } else if (stream.batches() > 0) {
          unnamed(replica.engine(stream.source().id().dpRank()), stream, into);
        }
      }
    }
  }

  private static @Nullable Seen seen(ReplicaFacts replica, StreamFacts stream) {
    ChainSpace space = stream.status().space();
    String engine = replica.engine(stream.source().id().dpRank());
    return space == null ? null : new Seen(engine, space, stream.status().hashScheme());
  }

  /** Replicas of the same model; those that do not say are taken to serve the same. */
  private static String model(ReplicaFacts replica) {
    return replica.http().baseModels().stream().findFirst().orElse("");
  }

  private static void compare(Seen seen, @Nullable Seen other, Findings into) {
    String scheme = seen.scheme.equals(UNKNOWN_SCHEME) ? "a seed of its own" : seen.scheme;
    if (other != null && differsInLookahead(seen.space, other.space)) {
      into.warn(
          seen.engine,
          "%s, but %s on %s: each is predicted by its own"
              .formatted(seen.blocks(), other.blocks(), other.engine),
          "vLLM 0.33 looks ahead with EAGLE or MTP, and not with a --kv-transfer-config: give the"
              + " engines the same options unless that is meant");
    } else if (other != null && seen.space.blockSizeTokens() != other.space.blockSizeTokens()) {
      into.fail(
          seen.engine,
          "%s, but %s on %s: they share no prefix"
              .formatted(seen.blocks(), other.blocks(), other.engine),
          "start the engines of one model with the same --block-size");
    } else if (other != null && !seen.hashesAs(other)) {
      into.warn(
          seen.engine,
          "blocks are hashed with %s, but with %s on %s"
              .formatted(scheme, other.scheme, other.engine),
          "it does no harm here; engines that share a KV store need the same"
              + " --prefix-caching-hash-algo and PYTHONHASHSEED");
    } else {
      into.ok(seen.engine, "%s, hashed with %s".formatted(seen.blocks(), scheme));
    }
  }

  private static boolean differsInLookahead(ChainSpace one, ChainSpace other) {
    return one.blockSizeTokens() == other.blockSizeTokens()
        && one.lookaheadTokens() != other.lookaheadTokens();
  }

  private static void unnamed(String engine, StreamFacts stream, Findings into) {
    long blocks = stream.count("blocks_stored");
    if (blocks > 0) {
      into.fail(
          engine,
          "%d blocks were stored, and none could be named".formatted(blocks),
          stream.count("tokenless_blocks") > 0
              ? "let the engine publish token ids with its blocks"
              : "see docs/kv-events.md for what the engine's events must hold");
    }
  }
}
