package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.hashing.KnownScheme;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.enginehash.EngineHasher;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.kvindex.enginehash.HashScheme;
import dev.warmpath.kvindex.enginehash.HashScheme.HashedKeys;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds out how a vLLM engine makes its hashes: which of the schemes that are known gives the first
 * block of a prompt the hash that the engine announced.
 *
 * <p>Tried with the first stores of a lifetime, and now and then with a later one. An engine whose
 * seed is random is never found out.
 *
 * <p>Confined to the writer; {@link #scheme} and {@link #known} may be read by any thread.
 */
final class HashCalibration {

  /** As long as none fits. */
  static final String UNKNOWN = "unknown";

  /** Stores at the root that are tried before patience ends. */
  private static final int FIRST_TRIES = 16;

  /** Each so many of them is tried all the same. */
  private static final int EVERY = 4096;

  private static final String CONFIGURED = "configured";

  private final @Nullable String configuredSeed;
  private volatile String scheme = UNKNOWN;
  private volatile @Nullable KnownScheme known;
  private int stores;

  /**
   * @param configuredSeed the engine's {@code PYTHONHASHSEED}, null if nobody said
   */
  HashCalibration(@Nullable String configuredSeed) {
    this.configuredSeed = configuredSeed;
  }

  /** What was found, for people and metrics. */
  String scheme() {
    return scheme;
  }

  /** What was found, for computing with it; or null. */
  @Nullable KnownScheme known() {
    return known;
  }

  /** The next lifetime may have another. */
  void reset() {
    known = null;
    stores = 0;
    scheme = UNKNOWN;
  }

  /** The engine has stored blocks that can be named, at the beginning of a prompt. */
  void observeStore(EventRow store, long firstHash) {
    int number = stores++;
    boolean hasKeys = !store.extraKeys(0).isEmpty();
    KnownScheme found = known;
    boolean open = found == null ? number < FIRST_TRIES : hasKeys && !found.keysKnown();
    if (number % EVERY == 0 || (open && number < EVERY)) {
      look(store, firstHash);
    }
  }

  private void look(EventRow store, long firstHash) {
    List<ExtraKey> keys = store.extraKeys(0);
    if (keys.stream().anyMatch(ExtraKey.Lora.class::isInstance)) {
      return; // since 0.32 the adapter's path is hashed too, which no event tells
    }
    boolean hasKeys = !keys.isEmpty();
    KnownScheme found = known;
    if (found != null && fits(found.hasher(), store, keys, firstHash)) {
      found = new KnownScheme(found.hasher(), found.keysKnown() || hasKeys);
    } else {
      EngineHasher other = find(store, keys, firstHash);
      if (other == null && hasKeys) {
        return; // some releases hash some keys in ways of their own
      }
      found = other == null ? null : new KnownScheme(other, hasKeys);
    }
    known = found;
    scheme = found == null ? UNKNOWN : describe(found);
  }

  private @Nullable EngineHasher find(EventRow store, List<ExtraKey> keys, long firstHash) {
    for (EngineHasher candidate : candidates(store)) {
      if (fits(candidate, store, keys, firstHash)) {
        return candidate;
      }
    }
    return null;
  }

  private static boolean fits(
      EngineHasher candidate, EventRow store, List<ExtraKey> keys, long firstHash) {
    HashScheme scheme = candidate.scheme();
    return scheme.blockSizeTokens() == store.blockSizeTokens()
        && scheme.lookaheadTokens() == store.lookaheadTokens()
        && EngineHasher.low64(candidate.hash(candidate.rootHash(), store.tokenIds(), 0, keys))
            == firstHash;
  }

  private List<EngineHasher> candidates(EventRow store) {
    List<EngineHasher> all = new ArrayList<>();
    for (HashAlgorithm algorithm : HashAlgorithm.values()) {
      for (String seed : seeds()) {
        for (HashedKeys keys : HashedKeys.values()) {
          HashScheme candidate =
              new HashScheme(
                  algorithm, seed, keys, store.blockSizeTokens(), store.lookaheadTokens());
          all.add(new EngineHasher(candidate, name -> name));
        }
      }
    }
    return all;
  }

  private Set<String> seeds() {
    Set<String> seeds = new LinkedHashSet<>(List.of(HashScheme.DEFAULT_SEED, "0"));
    if (configuredSeed != null) {
      seeds.add(configuredSeed);
    }
    return seeds;
  }

  private String describe(KnownScheme known) {
    HashScheme found = known.hasher().scheme();
    String name = found.algorithm().name().toLowerCase(Locale.ROOT);
    boolean secret = found.seed().equals(configuredSeed);
    String keys = known.keysKnown() ? " " + found.keys().name().toLowerCase(Locale.ROOT) : "";
    return name + " " + (secret ? CONFIGURED : found.seed()) + keys;
  }
}
