package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Await;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.TestPublisher;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.WireBatch;
import dev.warmpath.eventingest.apply.SharedStore;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that two engines read, on real sockets; its wire is that of Mooncake's master. */
@Timeout(120)
final class SharedStoreTest {

  private static final ChainSpace SPACE = new ChainSpace("m", TestEngine.BLOCK, 0);
  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();
  private static final String KEYS = "org/m@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0";
  private static final String OTHER_RANKS = "org/m@tp_rank:1@pcp0@dcp0@pp_rank:0@group:0";

  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  private final EventIngest ingest = new EventIngest(index, Clocks.ofTheMachine());
  private final TestEngine engine = new TestEngine();
  private final TestEngine other = new TestEngine();
  private final TestPublisher events = new TestPublisher(3);
  private final TestPublisher otherEvents = new TestPublisher(3);
  private TestPublisher master = new TestPublisher(0);
  private final Map<TestPublisher, Integer> sent = new LinkedHashMap<>();

  @AfterEach
  void close() {
    ingest.close();
    events.close();
    otherEvents.close();
    master.close();
  }

  @Test
  void whatOneEngineStoresCountsForTheStoreOnce() {
    StoreRules rules = new StoreRules("pool", null, false, "");
    follow("a", events, rules);
    follow("b", otherEvents, rules);
    publish(events, engine.serve(A).offload(A));
    Await.until("the store holds it", () -> stored(rules, A) == 16);
    publish(otherEvents, other.serve(A).offload(A).clear());
    Await.until(
        "the other engine's blocks are gone",
        () -> ingest.count(new EngineId("b", 0), StreamCounter.CLEARS) > 0);
    assertThat(held("b", A)).isZero();

    EngineView view = ingest.view(rules);
    assertThat(index.stats(view.slot()).heldBlocks()).isEqualTo(4);
    assertThat(view.trust()).isEqualTo(Trust.EXACT);
    assertThat(view.space()).isEqualTo(SPACE);
    assertThat(index.stats(slot("a")).heldBlocks()).as("none of them as its own").isEqualTo(4);
  }

  @Test
  void theMastersKeysAreNamedByTheEngines() {
    StoreRules rules = followAll();
    master.send(1, stored(KEYS, A, 0, 1, 2, 3)); // before any engine has named them
    publish(events, engine.serve(A));
    Await.until("the store's blocks have names", () -> stored(rules, A) == 16);
    master.send(2, removed(OTHER_RANKS, A, 2));
    Await.until("one is gone", () -> stored(rules, A) == 8);
    master.send(3, stored(OTHER_RANKS, A, 2));
    master.send(4, stored(KEYS, B, 0));
    publish(otherEvents, other.serve(B));
    Await.until("others are stored", () -> stored(rules, B) == 4);

    assertThat(stored(rules, A)).as("one rank of several shows no block").isEqualTo(8);
    assertThat(ingest.view(rules).trust()).isEqualTo(Trust.EXACT);
  }

  /** As Mooncake's master does when its queue is full. */
  @Test
  void aGapSuspendsTheStoreAlone() {
    StoreRules rules = followAll();
    publish(events, engine.serve(A).serve(B));
    master.send(1, stored(KEYS, A, 0, 1, 2, 3));
    master.send(2, stored(KEYS, B, 0, 1, 2, 3));
    Await.until("it is stored", () -> stored(rules, B) == 16);
    master.send(4, stored(KEYS, A, 0));
    Await.until("only what came since is credited", () -> stored(rules, A) == 4);
    assertThat(stored(rules, B)).isZero();
    assertThat(held("a", A)).isEqualTo(16);
    assertThat(held("a", B)).isEqualTo(16);

    long later = System.nanoTime();
    ingest.reused(rules.id(), new ReportedReuse(prompt(B), 12, -1, later));
    Await.until("an answer shows what is there", () -> stored(rules, B) == 12);
    assertThat(ingest.view(rules).trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void anotherMasterHoldsNothing() {
    StoreRules rules = followAll();
    publish(events, engine.serve(A));
    master.send(1, stored(KEYS, A, 0, 1));
    master.send(2, stored(KEYS, A, 2, 3));
    Await.until("it is stored", () -> stored(rules, A) == 16);
    String endpoint = master.endpoint();
    master.close();
    Await.until("its silence is seen", () -> ingest.view(rules).trust() == Trust.SUSPECT);
    master = new TestPublisher(endpoint, "tcp://127.0.0.1:*", 0);
    Await.until("nothing is credited", () -> stored(rules, A) == 0);
    awaitConnected(rules);
    master.send(1, stored(KEYS, A, 0));
    Await.until("the new one is believed", () -> stored(rules, A) == 4);
    assertThat(ingest.view(rules).trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void aStoreThatKeepsMissingIsSuspended() {
    StoreRules rules = followAll();
    publish(events, engine.serve(A));
    master.send(1, stored(KEYS, A, 0, 1, 2, 3));
    Await.until("it is stored", () -> stored(rules, A) == 16);
    for (int i = 0; i < 3; i++) {
      ingest.reused(rules.id(), new ReportedReuse(prompt(A), 0, 16, System.nanoTime()));
    }
    Await.until("it is not credited any more", () -> stored(rules, A) == 0);
    assertThat(held("a", A)).isEqualTo(16);
  }

  @Test
  void keysOfOthersAreNotRead() {
    StoreRules rules = new StoreRules("pool", null, true, "org/m@");
    follow("a", events, rules);
    followMaster(rules);
    publish(events, engine.serve(A).serve(B));
    master.send(1, stored("org/n@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0", A, 0, 1));
    master.send(2, stored("org/m@tp_rank:0@pcp0@dcp0@pp_rank:0@group:1", A, 0, 1));
    master.send(3, stored("fp8@" + KEYS, A, 0, 1)); // another deployment of the same model
    master.send(4, stored(KEYS, B, 0));
    Await.until("its own is stored", () -> stored(rules, B) == 4);
    assertThat(stored(rules, A)).isZero();
  }

  /** LMCache's chunks have hashes of its own, and the tokens of the next one's first beside. */
  @Test
  void chunksAreNamedByTheirTokens() {
    StoreRules rules = new StoreRules("pool", null, false, "");
    follow("a", events, rules);
    follow("b", otherEvents, rules);
    publish(events, engine.serve(A));
    events.publish(WireBatch.of(chunk(71, "nil", A, 0, 9), chunk(72, 71, A, 8, 9)));
    Await.until("both chunks are named", () -> stored(rules, A) == 16);
    ingest.settle();
    SharedStore store = ingest.store(rules);
    assertThat(store.named()).isEqualTo(2);
    assertThat(store.nameless()).isZero();

    events.publish(WireBatch.of(List.of("BlockRemoved", List.of(72), "cpu")));
    Await.until("the second one is gone", () -> stored(rules, A) == 8);
    publish(otherEvents, other.serve(B));
    otherEvents.publish(WireBatch.of(chunk(72, 71, A, 8, 8), chunk(81, "nil", B, 0, 8)));
    Await.until("another one tells of it", () -> stored(rules, B) == 8);
    assertThat(stored(rules, A)).isEqualTo(16);
    assertThat(index.stats(slot("a")).heldBlocks()).as("none of them as its own").isEqualTo(4);
  }

  @Test
  void chunksThatTheStorePublishesItselfAreNamedByTheirTokens() {
    StoreRules rules = followAll();
    publish(events, engine.serve(A));
    Await.until("a reader's blocks are known", () -> held("a", A) == 16);
    master.send(0, WireBatch.of(chunk(71, "nil", A, 0, 8), chunk(72, 71, A, 8, 8)));
    Await.until("both chunks are named", () -> stored(rules, A) == 16);
    master.send(1, WireBatch.of(List.of("BlockRemoved", List.of(72), "cpu")));
    Await.until("the second one is gone", () -> stored(rules, A) == 8);
    assertThat(ingest.view(rules).trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void readersComeAndGoWhileAllStaysKnown() {
    StoreRules pool = new StoreRules("pool", null, false, "");
    follow("a", events, pool);
    publish(events, engine.serve(A).offload(A));
    Await.until("it is stored", () -> stored(pool, A) == 16);
    EngineId a = new EngineId("a", 0);

    StoreRules other = new StoreRules("pool", "DISK", false, "");
    ingest.share(Map.of(a, Optional.of(other)), List.of(pool));
    assertThat(held("a", A)).isEqualTo(16);
    assertThat(ingest.view(pool)).isNull();
    publish(events, engine.offload(A));
    Await.until("it counts as its own", () -> index.stats(slot("a")).heldBlocks() == 8);
    assertThat(index.stats(ingest.view(other).slot()).heldBlocks()).isZero();

    ingest.share(Map.of(a, Optional.of(pool)), List.of(other));
    publish(events, engine.offload(B).serve(B).offload(B));
    Await.until("it is read again", () -> stored(pool, B) == 16);
    assertThat(stored(pool, A)).as("of another time").isZero();
    ingest.share(Map.of(a, Optional.empty()), List.of(pool));
    assertThat(held("a", B)).isEqualTo(16);
  }

  @Test
  void oneThatComesBackIsNamedByWhatItsReadersHold() {
    StoreRules rules = followAll();
    EngineId a = new EngineId("a", 0);
    EngineId b = new EngineId("b", 0);
    publish(events, engine.serve(A));
    master.send(1, stored(KEYS, A, 0, 1, 2, 3));
    Await.until("it is stored", () -> stored(rules, A) == 16);
    publish(otherEvents, other.serve(A).serve(B));
    master.send(2, stored(KEYS, B, 0, 1, 2, 3));
    Await.until("the other one is stored", () -> stored(rules, B) == 16);

    ingest.remove(rules.id());
    ingest.share(Map.of(a, Optional.empty(), b, Optional.empty()), List.of(rules));
    assertThat(held("b", B)).isEqualTo(16);
    assertThat(held("a", A)).isEqualTo(held("b", A)).isEqualTo(16);
    ingest.share(Map.of(a, Optional.of(rules), b, Optional.of(rules)), List.of());
    followMaster(rules);
    assertThat(stored(rules, A)).isZero();
    master.send(3, removed(KEYS, A, 0));
    master.send(4, stored(KEYS, A, 0, 1, 2, 3));
    master.send(5, stored(KEYS, B, 0, 1, 2, 3));
    Await.until("the one is named", () -> stored(rules, A) == 16);
    Await.until("the other is named", () -> stored(rules, B) == 16);
  }

  @Test
  void aStoreThatSaysNothingOfWhatItsReadersSayIsSilent() {
    StoreRules rules = followAll();
    publish(events, engine.serve(A).offload(A));
    Await.until("a reader has told", () -> ingest.store(rules).toldMeanwhile() == 4);
    long silent = ingest.store(rules).silentNanos();
    master.send(1, stored(KEYS, A, 0));
    Await.until("it is heard", () -> ingest.store(rules).toldMeanwhile() == 0);
    assertThat(ingest.store(rules).silentNanos()).isLessThan(silent + 10_000_000_000L);
  }

  /** In its process LMCache calls 0 the parent of what it stores behind what it holds already. */
  @Test
  void chunksBehindNobodyKnowsWhatAreNameless() {
    StoreRules rules = new StoreRules("pool", null, false, "");
    follow("a", events, rules);
    publish(events, engine.serve(A));
    events.publish(
        WireBatch.of(
            chunk(72, 0, A, 8, 8),
            chunk(73, 99, A, 8, 8),
            List.of("BlockStored", List.of(74), "nil", ids(A, 0, 3), 8, "nil", "cpu")));
    Await.until("they are counted", () -> ingest.store(rules).nameless() == 3);
    assertThat(ingest.store(rules).named()).isZero();
    assertThat(stored(rules, A)).isZero();
  }

  /** LMCache may be given the engine's block size: then its hashes differ, and nothing else. */
  @Test
  void chunksAsLargeAsBlocksAreNamedByTheirTokensToo() {
    StoreRules rules = new StoreRules("pool", null, false, "");
    follow("a", events, rules);
    publish(events, engine.serve(A));
    events.publish(WireBatch.of(chunk(71, "nil", A, 0, 4, 4), chunk(72, 71, A, 4, 4, 4)));
    Await.until("both are named", () -> stored(rules, A) == 8);
  }

  /** SGLang's pages: a key and a value for each rank; its hash is the digest's first digits. */
  @Test
  void pagesOfHiCacheAreNamedByTheEngines() {
    StoreRules rules = new StoreRules("pool", null, true, "org-m_");
    follow("a", events, rules);
    followMaster(rules);
    publish(events, engine.serve(A).serve(B));
    master.send(1, page("stored", "org-m_", A, 0, "_1_k"));
    master.send(2, page("stored", "org-n_", B, 0, "_0_k"));
    master.send(3, page("stored", "org-m_", B, 0, "_0_v"));
    master.send(4, page("stored", "org-m_", A, 0, "_0_k"));
    master.send(5, page("stored", "org-m_", A, 1, "__k"));
    Await.until("the first rank's keys show them", () -> stored(rules, A) == 8);
    assertThat(stored(rules, B)).isZero();
    master.send(6, page("removed", "org-m_", A, 1, "_3_v"));
    Await.until("any object's end is the page's", () -> stored(rules, A) == 4);
  }

  private static byte[] page(String type, String begin, int[] prompt, int block, String suffix) {
    String legacyType = type.equals("stored") ? "BlockStored" : "BlockRemoved";
    Map<String, Object> event = event(type, legacyType, "", prompt, block);
    String digest = "%016x%048x".formatted(TestEngine.hash(prompt, block), 7);
    event.put("object_key", begin + digest + suffix);
    event.put("block_size", 0);
    event.put("token_ids", "nil");
    event.put("parent_block_hash", "nil");
    return WireBatch.of(event);
  }

  private static List<Object> chunk(long hash, Object parent, int[] prompt, int from, int tokens) {
    return chunk(hash, parent, prompt, from, tokens, 8);
  }

  /** As vLLM publishes what LMCache tells it. */
  private static List<Object> chunk(
      long hash, Object parent, int[] prompt, int from, int tokens, int size) {
    return List.of(
        "BlockStored", List.of(hash), parent, ids(prompt, from, tokens), size, "nil", "cpu");
  }

  private static List<Object> ids(int[] prompt, int from, int tokens) {
    return IntStream.range(from, from + tokens).<Object>mapToObj(i -> prompt[i]).toList();
  }

  private StoreRules followAll() {
    StoreRules rules = new StoreRules("pool", null, true, "");
    follow("a", events, rules);
    follow("b", otherEvents, rules);
    followMaster(rules);
    return rules;
  }

  private void follow(String name, TestPublisher publisher, StoreRules rules) {
    EngineId id = new EngineId(name, 0);
    ingest.add(
        new EngineSource(
            id,
            "m",
            publisher.endpoint(),
            false,
            publisher.replayEndpoint(),
            EngineRules.of(EngineDialect.VLLM).with(rules)));
    Await.until("the engine is heard", () -> isConnected(id));
  }

  private void followMaster(StoreRules rules) {
    EngineRules read = new EngineRules(EngineDialect.VLLM, 0, CopyCounting.PRESENCE, 0).with(rules);
    ingest.add(
        new EngineSource(
            rules.id(), "m", master.endpoint(), false, null, read, null, EngineSource.ANY_RANK));
    awaitConnected(rules);
  }

  private void awaitConnected(StoreRules rules) {
    long before = ingest.count(rules.id(), StreamCounter.BAD_MESSAGES);
    Await.until(
        "the master is heard",
        () -> {
          master.send(new byte[] {1});
          return ingest.count(rules.id(), StreamCounter.BAD_MESSAGES) > before;
        });
  }

  private boolean isConnected(EngineId id) {
    return ingest.heard().stream().anyMatch(one -> one.id().equals(id) && one.connected());
  }

  private void publish(TestPublisher to, TestEngine from) {
    List<byte[]> all = from.published();
    int first = sent.getOrDefault(to, 0);
    all.subList(first, all.size()).forEach(to::publish);
    sent.put(to, all.size());
  }

  private static byte[] stored(String owner, int[] prompt, int... blocks) {
    return WireBatch.of(
        IntStream.of(blocks)
            .mapToObj(block -> {
              Map<String, Object> event = event("stored", "BlockStored", owner, prompt, block);
              event.put("base_block_idx", 0);
              event.put("parent_hash", "nil");
              event.put("token_ids", "nil");
              event.put("parent_block_hash", "nil");
              return event;
            })
            .toArray());
  }

  private static byte[] removed(String owner, int[] prompt, int block) {
    Map<String, Object> event = event("removed", "BlockRemoved", owner, prompt, block);
    event.put("base_block_idx", "nil");
    return WireBatch.of(event);
  }

  /** As kv_event_publisher.cpp packs it. */
  private static Map<String, Object> event(
      String type, String legacyType, String owner, int[] prompt, int block) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("event_id", 7);
    event.put("timestamp", 1_700_000_000_000L);
    event.put("event_type", type);
    event.put("type", legacyType);
    for (String unknown : List.of("model_name", "block_size", "additional_salt", "lora_name")) {
      event.put(unknown, "nil");
    }
    event.put("tenant_id", "default");
    event.put("backend_id", "pool");
    event.put("group_id", "nil");
    event.put("medium", "cpu");
    event.put("dp_rank", "nil");
    String digest = "%048x%016x".formatted(1, TestEngine.hash(prompt, block));
    event.put("object_key", owner + "@" + digest);
    event.put("seq_hashes", List.of());
    event.put("block_hashes", List.of());
    return event;
  }

  private int slot(String name) {
    return ingest.view(new EngineId(name, 0)).slot();
  }

  private int held(String name, int[] prompt) {
    return tokens(slot(name), prompt);
  }

  private int stored(StoreRules rules, int[] prompt) {
    return tokens(ingest.view(rules).slot(), prompt);
  }

  private int tokens(int slot, int[] prompt) {
    PrefixMatches matches = new PrefixMatches();
    index.match(prompt(prompt), matches);
    return matches.tokens(slot, StorageTier.DISK);
  }

  private static BlockChain prompt(int[] tokens) {
    return BlockChain.of(SPACE, tokens, PromptKeys.NONE);
  }
}
