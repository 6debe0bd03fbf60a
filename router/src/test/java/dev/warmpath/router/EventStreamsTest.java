package dev.warmpath.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.follow.EventIngest;
import dev.warmpath.eventingest.hashing.EventFormat;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.eventingest.hashing.SglangRules;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Rig;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EventStreamsTest {

  @Test
  void readsEventsByTheRulesOfTheDialect() throws ConfigException {
    assertThat(source("vllm").dialect()).isEqualTo(EngineDialect.VLLM);
    assertThat(source("vllm").rules().droppedBlocks()).isZero();
    assertThat(source("sglang").dialect()).isEqualTo(EngineDialect.SGLANG);
    assertThat(source("sglang-hybrid").dialect()).isEqualTo(EngineDialect.SGLANG);
    assertThat(source("vllm-eagle").dialect()).isEqualTo(EngineDialect.VLLM);
    assertThat(source("vllm-eagle").rules().droppedBlocks())
        .as("credited too much otherwise")
        .isEqualTo(1);
  }

  /** vLLM's hybrid load balancing: a node's ports and batches go by its ranks among all nodes'. */
  @Test
  void ranksOfASecondNodeAreFoundAtTheirPorts() throws Exception {
    List<EngineSource> sources =
        EventStreams.sources(replica("vllm, replay: 'tcp://h:5757', ranks: 2, first-rank: 4"), "m");
    assertThat(sources)
        .extracting(EngineSource::endpoint)
        .containsExactly("tcp://127.0.0.1:6", "tcp://127.0.0.1:7");
    assertThat(sources)
        .extracting(EngineSource::replayEndpoint)
        .containsExactly("tcp://h:5761", "tcp://h:5762");
    assertThat(sources).extracting(source -> source.id().dpRank()).containsExactly(0, 1);
    assertThat(sources.get(1).isOfRank(5)).isTrue();
    assertThat(sources.get(1).isOfRank(1)).as("it is another node's").isFalse();
  }

  @Test
  void tensorRtHasASetOfBlocks() throws Exception {
    assertThat(source("trtllm").rules().removals()).isEqualTo(CopyCounting.PRESENCE);
    assertThat(source("trtllm-hybrid").dialect()).isEqualTo(EngineDialect.TRTLLM);
  }

  @Test
  void sglangIsReadAsItWasStarted() throws Exception {
    String dynamo = "sglang, event-format: dynamo, loras: [fr=lora/fr]";
    assertThat(source(dynamo).rules().remedy()).as("its hashes show all").isNull();
    assertThat(source("sglang").rules().remedy()).contains("event-format: dynamo");
    assertThat(source(dynamo).rules().sglang().namespaces())
        .isEqualTo(SglangNamespaces.of(EventFormat.DYNAMO, Map.of("fr", "lora/fr")));
    assertThat(source("sglang").rules().sglang()).isEqualTo(SglangRules.USUAL);
    assertThatThrownBy(() -> source("vllm, event-format: dynamo"))
        .hasMessageContaining("need dialect sglang");
    assertThatThrownBy(() -> source("sglang, loras: [fr]")).hasMessageContaining("NAME=PATH");
    assertThatThrownBy(() -> source("sglang, loras: [fr=a, fr=b]"))
        .hasMessageContaining("each name once: 'fr'");
  }

  @Test
  void removalsMeanWhatTheReplicaIsSaidToMean() throws ConfigException {
    assertThat(source("vllm").rules().removals()).isEqualTo(CopyCounting.PER_COPY);
    assertThat(source("sglang").rules().removals()).isEqualTo(CopyCounting.PRESENCE);
    EngineRules told = source("vllm, removals: presence, max-blocks: 7").rules();
    assertThat(told.removals()).isEqualTo(CopyCounting.PRESENCE);
    assertThat(told.maxBlocks()).isEqualTo(7);
  }

  @Test
  void tellsTheStreamOfAnotherProcessUnlessItKnows() throws Exception {
    try (EventIngest ingest =
        new EventIngest(new RunKvIndex(IndexLimits.unbounded(10)), Clocks.ofTheMachine())) {
      EventStreams streams = new EventStreams(ingest);
      ingest.add(source("vllm"));
      Replica replica = new Replica("a", URI.create("http://h:1"), Set.of(), 1);

      streams.unchanged(replica);
      streams.restarted(replica, "the process started at another time");
      Rig.until(() -> restarts(ingest) == 1);

      streams.restarted(replica, "again, and the stream has seen one since the last quiet look");
      streams.unchanged(replica);
      streams.restarted(replica, "the process started at another time");
      Rig.until(() -> restarts(ingest) == 2);

      assertThat(streams.clear("a", "cleared by the operator")).isEqualTo(1);
      assertThat(streams.clear("b", "cleared by the operator")).isZero();
      Rig.until(() -> count(ingest, "clears") == 3);
    }
  }

  @Test
  void aReplicaThatHasLeftSaysNothingOfItsSuccessor() throws Exception {
    try (EventIngest ingest =
        new EventIngest(new RunKvIndex(IndexLimits.unbounded(10)), Clocks.ofTheMachine())) {
      EventStreams streams = new EventStreams(ingest);
      Fleet fleet = new Fleet();
      Replica old = new Replica("a", URI.create("http://h:1"), Set.of(), 1);
      fleet.add(old);
      ReplicaConfig replica = replica("vllm");
      streams.follow(replica, "m");
      fleet.change(List.of(fleet.find("a").orElseThrow()), List.of());
      streams.unfollow(replica);
      assertThat(ingest.status()).isEmpty();

      streams.follow(replica, "m");
      streams.restarted(old, "an answer that came late");
      streams.cleared(old, "the engine sleeps");
      ingest.settle();
      assertThat(restarts(ingest)).isZero();
      assertThat(count(ingest, "clears")).isZero();
      streams.restarted(new Replica("a", URI.create("http://h:2"), Set.of(), 1), "it did");
      Rig.until(() -> restarts(ingest) == 1);
    }
  }

  /** Each replica's metrics are read every few seconds; together that must not grow as a square. */
  @Test
  void newsOfOneReplicaTakeNoMoreInALargeFleet() throws Exception {
    long alone = bytesOfNews(1);
    assertThat(alone).isPositive();
    assertThat(bytesOfNews(64)).isLessThan(2 * alone);
  }

  /** Bytes that are allocated to pass on what one replica's metrics say. */
  private static long bytesOfNews(int replicas) throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (EventIngest ingest =
        new EventIngest(new RunKvIndex(IndexLimits.unbounded(10)), Clocks.ofTheMachine())) {
      EventStreams streams = new EventStreams(ingest);
      for (int i = 0; i < replicas; i++) {
        ingest.add(source("vllm, name: r" + i));
      }
      Replica replica = new Replica("r0", URI.create("http://h:1"), Set.of(), 1);
      for (int warmUp = 0; warmUp < 100; warmUp++) {
        passOn(streams, replica);
      }
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 100; i++) {
        passOn(streams, replica);
      }
      return threads.getCurrentThreadAllocatedBytes() - before;
    }
  }

  private static void passOn(EventStreams streams, Replica replica) {
    streams.unchanged(replica);
    streams.runsSince(replica, 1_000);
    streams.gpuBlocks(replica, 64);
  }

  private static long restarts(EventIngest ingest) {
    return count(ingest, "restarts");
  }

  private static long count(EventIngest ingest, String counter) {
    return Objects.requireNonNull(ingest.status().get(0).counters().get(counter));
  }

  private static EngineSource source(String dialect) throws ConfigException {
    return EventStreams.sources(replica(dialect), "m").get(0);
  }

  private static ReplicaConfig replica(String dialect) throws ConfigException {
    String yaml =
        "replicas: [{url: 'http://h:1', events: 'tcp://127.0.0.1:2', dialect: "
            + dialect
            + (dialect.contains("name:") ? "}]" : ", name: a}]");
    return ConfigTree.parse(yaml, "f").config().replicas().get(0);
  }
}
