package dev.warmpath.eventingest.apply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.WireBatch;
import dev.warmpath.eventingest.hashing.EventFormat;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.eventingest.hashing.SglangRules;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What SGLang's hashes show is told apart; hashes of ids 1 to 32 in pages of 16. */
final class ShownNamespacesTest {

  private static final int[] PROMPT = IntStream.rangeClosed(1, 33).toArray();
  private static final ChainSpace SPACE = new ChainSpace("m", 16, 0);
  private static final List<Long> PLAIN = List.of(8635429971592222890L, 1256577331724852459L);
  private static final List<Long> X = List.of(794546959763694826L, 8532732432703541018L);
  private static final List<Long> FRENCH = List.of(1472499773248983558L, -1598747166135746328L);
  private static final List<Long> FRENCH_X = List.of(2841116293257009986L, 2595306314407362732L);
  private static final List<Long> OTHER = List.of(11L, 12L);

  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(100));
  private final StreamCounters counters = new StreamCounters();
  private final ColumnDecoder decoder = new ColumnDecoder();
  private final PromptKeys french = new PromptKeys("fr", null);

  @Test
  void dynamoShowsWhoseTheyAre() throws Exception {
    EventApplier applier = applier(EventFormat.DYNAMO);
    hear(applier, store(X, null));
    assertThat(credited(applier, PromptKeys.NONE)).isZero();
    assertThat(credited(applier, keys(EventFormat.DYNAMO, PromptKeys.NONE))).isEqualTo(32);
    assertThat(counters.get(StreamCounter.KEYED_STORES)).isEqualTo(1);

    hear(applier, store(PLAIN, null));
    assertThat(credited(applier, PromptKeys.NONE)).isEqualTo(32);
    assertThat(counters.get(StreamCounter.KEYED_STORES)).isEqualTo(1);
  }

  @Test
  void dynamoTellsThemApartInOneBatch() throws Exception {
    EventApplier applier = applier(EventFormat.DYNAMO);
    hear(applier, store(X, null), store(PLAIN, null));
    assertThat(credited(applier, PromptKeys.NONE)).isEqualTo(32);

    hear(applier, Map.of("type", "BlockRemoved", "block_hashes", X, "medium", "GPU"));
    assertThat(credited(applier, keys(EventFormat.DYNAMO, PromptKeys.NONE))).isZero();
    assertThat(credited(applier, PromptKeys.NONE)).as("has other hashes").isEqualTo(32);
  }

  @Test
  void knownAdaptersAreShownInTheDefaultFormat() throws Exception {
    EventApplier applier = applier(EventFormat.DEFAULT);
    hear(applier, store(FRENCH_X, "fr"));
    assertThat(credited(applier, french)).isZero();
    assertThat(credited(applier, keys(EventFormat.DEFAULT, french))).isEqualTo(32);
    hear(applier, store(FRENCH, "fr"));
    assertThat(credited(applier, french)).isEqualTo(32);

    hear(applier, store(PLAIN, null));
    assertThat(credited(applier, PromptKeys.NONE)).as("is believed").isEqualTo(32);
  }

  @Test
  void adaptersLoadedLaterAreBelieved() throws Exception {
    EventApplier applier = applier(EventFormat.DYNAMO);
    hear(applier, store(PLAIN, null));
    hear(applier, store(OTHER, "later"));
    assertThat(credited(applier, new PromptKeys("later", null))).isEqualTo(32);
  }

  private static PromptKeys keys(EventFormat format, PromptKeys keys) {
    return Objects.requireNonNull(namespaces(format).keys(SPACE, PROMPT, keys, "x"));
  }

  private void hear(EventApplier applier, Object... events) throws Exception {
    applier.apply(decoder.decode(WireBatch.of(events)));
  }

  private int credited(EventApplier applier, PromptKeys keys) {
    PrefixMatches matches = new PrefixMatches();
    index.match(BlockChain.of(SPACE, PROMPT, keys), matches);
    return matches.tokens(applier.slot());
  }

  private EventApplier applier(EventFormat format) {
    EngineRules rules =
        EngineRules.of(EngineDialect.SGLANG).with(new SglangRules(namespaces(format), 10));
    EngineSource source =
        new EngineSource(new EngineId("r", 0), "m", "tcp://x", false, null, rules);
    return new EventApplier(index, source, counters);
  }

  private static SglangNamespaces namespaces(EventFormat format) {
    return SglangNamespaces.of(format, Map.of("fr", "lora/fr"));
  }

  private static Map<String, Object> store(List<Long> hashes, @Nullable String lora) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("type", "BlockStored");
    event.put("block_hashes", hashes);
    event.put("parent_block_hash", "nil");
    event.put("token_ids", IntStream.rangeClosed(1, 32).boxed().toList());
    event.put("block_size", 16);
    event.put("medium", "GPU");
    if (lora != null) {
      event.put("lora_name", lora);
    }
    return event;
  }
}
