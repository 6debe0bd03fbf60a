package dev.warmpath.router;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import org.junit.jupiter.api.Test;

class EventStreamsTest {

  @Test
  void readsEventsByTheRulesOfTheDialect() throws ConfigException {
    assertThat(source("vllm").dialect()).isEqualTo(EngineDialect.VLLM);
    assertThat(source("vllm").droppedBlocks()).isZero();
    assertThat(source("sglang").dialect()).isEqualTo(EngineDialect.SGLANG);
    assertThat(source("vllm-eagle").dialect()).isEqualTo(EngineDialect.VLLM);
    assertThat(source("vllm-eagle").droppedBlocks()).as("credited too much otherwise").isEqualTo(1);
  }

  private static EngineSource source(String dialect) throws ConfigException {
    String yaml =
        "replicas: [{name: a, url: 'http://h:1', events: 'tcp://h:2', dialect: " + dialect + "}]";
    return EventStreams.source(
        ConfigTree.parse(yaml, "f").config().replicas().get(0), "tcp://h:2", "m", 0);
  }
}
