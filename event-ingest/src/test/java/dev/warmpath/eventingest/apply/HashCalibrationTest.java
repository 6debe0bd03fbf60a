package dev.warmpath.eventingest.apply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.BlockTokens;
import dev.warmpath.eventingest.wire.ColumnsOf;
import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.enginehash.EngineHasher;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.kvindex.enginehash.HashScheme;
import dev.warmpath.kvindex.enginehash.HashScheme.HashedKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class HashCalibrationTest {

  private static final GroupSpec FULL = new GroupSpec("full_attention", 0);
  private static final List<ExtraKey> SALT = List.of(new ExtraKey.CacheSalt("tenant"));

  private int prompts;

  @ParameterizedTest
  @EnumSource
  void algorithmIsFoundByTheFirstStore(HashAlgorithm algorithm) {
    EventApplier applier = applier("17");
    assertThat(applier.hashScheme()).isEqualTo("unknown");

    store(applier, hasher(algorithm, HashScheme.DEFAULT_SEED, HashedKeys.TAGGED, 0), List.of());
    String name = algorithm.name().toLowerCase(Locale.ROOT);
    assertThat(applier.hashScheme()).isEqualTo(name + " vllm-none-hash");

    applier.reset();
    store(applier, hasher(algorithm, "0", HashedKeys.TAGGED, 0), List.of());
    assertThat(applier.hashScheme()).isEqualTo(name + " 0");

    applier.reset();
    store(applier, hasher(algorithm, "17", HashedKeys.TAGGED, 1), List.of());
    assertThat(applier.hashScheme()).isEqualTo(name + " configured");
  }

  @Test
  void formOfExtraKeysIsFoundByAStoreThatHasSome() {
    for (HashedKeys form : HashedKeys.values()) {
      EventApplier applier = applier(null);
      EngineHasher hasher = hasher(HashAlgorithm.SHA256, "0", form, 0);
      store(applier, hasher, List.of());
      assertThat(applier.hashScheme()).isEqualTo("sha256 0");
      store(applier, hasher, SALT);
      store(applier, hasher, List.of());
      assertThat(applier.hashScheme())
          .isEqualTo("sha256 0 " + form.name().toLowerCase(Locale.ROOT));
    }
  }

  @Test
  void adaptersTellNothingSinceTheirPathIsNotKnown() {
    EventApplier applier = applier(null);
    EngineHasher hasher = hasher(HashAlgorithm.SHA256, "0", HashedKeys.TAGGED, 0);
    store(applier, hasher, List.of(new ExtraKey.Lora("fr")));
    assertThat(applier.hashScheme()).isEqualTo("unknown");
  }

  @Test
  void seedThatNobodyKnowsIsNotFound() {
    EventApplier applier = applier(null);
    store(applier, hasher(HashAlgorithm.SHA256, "17", HashedKeys.TAGGED, 0), List.of());
    assertThat(applier.hashScheme()).isEqualTo("unknown");
  }

  @Test
  void schemeThatIsTrueNoMoreIsSeenInTime() {
    EventApplier applier = applier(null);
    store(applier, hasher(HashAlgorithm.SHA256, "0", HashedKeys.TAGGED, 0), List.of());
    EngineHasher other = hasher(HashAlgorithm.SHA256_CBOR, "0", HashedKeys.TAGGED, 0);
    for (int i = 1; i < 4096; i++) {
      store(applier, other, List.of());
    }
    assertThat(applier.hashScheme()).isEqualTo("sha256 0");
    store(applier, other, List.of());
    assertThat(applier.hashScheme()).isEqualTo("sha256_cbor 0");
  }

  @Test
  void howImagesAreNamedIsFoundByANameThatWasSent() {
    EventApplier applier = applier(null);
    EngineHasher hasher = hasher(HashAlgorithm.SHA256, "0", HashedKeys.TAGGED, 0);
    ImageForm framed = new ImageForm(true, ImageForm.Algorithm.BLAKE3, "/m");
    ImageForm bare = new ImageForm(false, ImageForm.Algorithm.SHA512, "/m");
    List<ExtraKey> image = List.of(new ExtraKey.Multimodal("b", 3));
    store(applier, hasher, image);
    assertThat(applier.imageForm()).as("nothing was sent").isNull();

    applier.sentImages(Map.of("a", framed, "b", bare));
    store(applier, hasher, List.of());
    store(applier, hasher, List.of(new ExtraKey.Multimodal("other", 3)));
    assertThat(applier.imageForm()).as("neither of the names").isNull();
    store(applier, hasher, image);
    assertThat(applier.imageForm()).isEqualTo(bare);

    applier.reset();
    assertThat(applier.imageForm()).as("another lifetime").isNull();
    store(applier, hasher, image);
    assertThat(applier.imageForm()).as("was sent to the one before").isNull();
  }

  @Test
  void ofNamesThatWereSentTheLastAreKept() {
    EventApplier applier = applier(null);
    EngineHasher hasher = hasher(HashAlgorithm.SHA256, "0", HashedKeys.TAGGED, 0);
    ImageForm form = new ImageForm(true, ImageForm.Algorithm.BLAKE3, "/m");
    for (int i = 0; i <= 4096; i++) {
      applier.sentImages(Map.of("image " + i, form));
    }
    store(applier, hasher, List.of(new ExtraKey.Multimodal("image 0", 3)));
    assertThat(applier.imageForm()).isNull();
    store(applier, hasher, List.of(new ExtraKey.Multimodal("image 1", 3)));
    assertThat(applier.imageForm()).isEqualTo(form);
  }

  /** The engine stores the first block of another prompt. */
  private void store(EventApplier applier, EngineHasher hasher, List<ExtraKey> keys) {
    int lookahead = hasher.scheme().lookaheadTokens();
    int first = 100 * prompts++;
    int[] tokens = IntStream.range(first, first + 8 + lookahead).toArray();
    long hash = EngineHasher.low64(hasher.hash(hasher.rootHash(), tokens, 0, keys));
    List<List<ExtraKey>> perBlock = keys.isEmpty() ? List.of() : List.of(keys);
    applier.apply(
        ColumnsOf.events(
            List.of(
                new BlockStored(
                    new long[] {hash},
                    null,
                    new BlockTokens(tokens, 8, lookahead, Naming.DENSE),
                    new BlockKeys(null, null, perBlock, Naming.DENSE),
                    BlockPlace.GPU,
                    FULL))));
  }

  private static EngineHasher hasher(
      HashAlgorithm algorithm, String seed, HashedKeys keys, int lookaheadTokens) {
    return new EngineHasher(
        new HashScheme(algorithm, seed, keys, 8, lookaheadTokens), name -> "/adapters/" + name);
  }

  private static EventApplier applier(@Nullable String seed) {
    EngineSource source =
        new EngineSource(
            new EngineId("r", 0),
            "m",
            "tcp://x",
            false,
            null,
            EngineRules.of(EngineDialect.VLLM),
            seed);
    return new EventApplier(
        new RunKvIndex(IndexLimits.unbounded(1000)), source, new StreamCounters());
  }
}
