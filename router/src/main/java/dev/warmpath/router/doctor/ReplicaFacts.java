package dev.warmpath.router.doctor;

import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.tokenize.ImageComparison;
import dev.warmpath.router.tokenize.ProbeComparison;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What was found of one replica.
 *
 * @param tls its certificate; null for {@code http}, and if it shows none
 * @param streams one a rank; none if it has no events
 * @param comparisons one for each of its models that has a tokenizer
 * @param images one for each of its models that has a tokenizer, if it is a vLLM that can be asked
 * @param trials one a rank; none if requests are forbidden, or it cannot be asked
 */
record ReplicaFacts(
    ReplicaConfig config,
    HttpFacts http,
    @Nullable TlsFacts tls,
    List<StreamFacts> streams,
    List<ProbeComparison> comparisons,
    List<ImageComparison> images,
    List<Trial> trials) {

  public ReplicaFacts {
    streams = List.copyOf(streams);
    comparisons = List.copyOf(comparisons);
    images = List.copyOf(images);
    trials = List.copyOf(trials);
  }

  public String name() {
    return config.name();
  }

  /** What an engine is called in findings: its replica, and its rank if there are several. */
  public String engine(int rank) {
    return config.ranks() == 1 ? config.name() : config.name() + "/" + rank;
  }

  /** The trial of one rank, if there was one. */
  public Optional<Trial> trial(int rank) {
    return trials.stream().filter(trial -> trial.engine().dpRank() == rank).findFirst();
  }
}
