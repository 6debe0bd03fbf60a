package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.simulator.engine.EngineConfig;
import java.util.Map;

/**
 * Everything that one live engine is told at its start.
 *
 * @param model the name that it serves
 * @param adapters path of each LoRA adapter by name
 * @param ports where it listens, on the loopback interface
 * @param hashing how it hashes blocks, with vLLM's default seed
 * @param speed how many times faster than its time model
 * @param answerTokens usual length of an answer that nobody limits
 * @param transfer its part in disaggregated serving
 */
public record LiveEngineOptions(
    String model,
    Map<String, String> adapters,
    Ports ports,
    EngineConfig engine,
    PublisherOptions events,
    HashAlgorithm hashing,
    double speed,
    int answerTokens,
    KvTransferOptions transfer) {

  public LiveEngineOptions {
    adapters = Map.copyOf(adapters);
    if (answerTokens < 1) {
      throw new IllegalArgumentException("answerTokens=" + answerTokens);
    }
  }

  /** An engine as vLLM would run it with defaults, on any ports. */
  public static LiveEngineOptions of(String model, EngineConfig engine) {
    return new LiveEngineOptions(
        model,
        Map.of(),
        Ports.ANY,
        engine,
        PublisherOptions.DEFAULT,
        HashAlgorithm.SHA256,
        1,
        64,
        KvTransferOptions.NONE);
  }

  /** The same on other ports. */
  public LiveEngineOptions at(Ports ports) {
    return new LiveEngineOptions(
        model, adapters, ports, engine, events, hashing, speed, answerTokens, transfer);
  }

  /** The same with other events and hashes. */
  public LiveEngineOptions with(PublisherOptions events, HashAlgorithm hashing) {
    return new LiveEngineOptions(
        model, adapters, ports, engine, events, hashing, speed, answerTokens, transfer);
  }

  /** The same with other adapters. */
  public LiveEngineOptions with(Map<String, String> adapters) {
    return new LiveEngineOptions(
        model, adapters, ports, engine, events, hashing, speed, answerTokens, transfer);
  }

  /** The same, faster or with longer answers. */
  public LiveEngineOptions pace(double speed, int answerTokens) {
    return new LiveEngineOptions(
        model, adapters, ports, engine, events, hashing, speed, answerTokens, transfer);
  }

  /** The same with another part in disaggregated serving. */
  public LiveEngineOptions with(KvTransferOptions transfer) {
    return new LiveEngineOptions(
        model, adapters, ports, engine, events, hashing, speed, answerTokens, transfer);
  }
}
