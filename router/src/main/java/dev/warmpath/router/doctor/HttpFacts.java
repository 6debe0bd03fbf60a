package dev.warmpath.router.doctor;

import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.health.MetricsPage;
import dev.warmpath.router.health.ModelInfo;
import dev.warmpath.router.health.ServedModel;
import dev.warmpath.router.members.AnnouncedRanks.Source;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What one replica's HTTP routes told.
 *
 * @param problem why it cannot be reached; null if it answers, and the rest is empty if not
 * @param healthPath the route that shows its health
 * @param health status of that route
 * @param millis how long that took
 * @param version empty if it does not say
 * @param models null if {@code /v1/models} gave no list
 * @param sources null if it does not say where it publishes events
 * @param info what it says of its part in disaggregated serving
 * @param clockAheadSeconds its clock against ours, NaN if it does not say
 */
record HttpFacts(
    @Nullable String problem,
    String healthPath,
    int health,
    long millis,
    EngineKind kind,
    String version,
    @Nullable List<ServedModel> models,
    MetricsPage metrics,
    @Nullable List<Source> sources,
    double clockAheadSeconds,
    ModelInfo info) {

  /** Of a replica that does not answer. */
  public static HttpFacts unreachable(String problem, String healthPath) {
    return new HttpFacts(
        problem,
        healthPath,
        0,
        0,
        EngineKind.OTHER,
        "",
        null,
        MetricsPage.NONE,
        null,
        Double.NaN,
        ModelInfo.NONE);
  }

  /** Whether it answers. */
  public boolean reachable() {
    return problem == null;
  }

  /** What it is for: as configured, unless it says so itself. */
  public KvTransfer transfer(KvTransfer configured) {
    return configured.told(info.disaggregationMode(), info.bootstrapPort());
  }

  /** Names of the base models that it serves; empty if it does not say. */
  public List<String> baseModels() {
    return models == null
        ? List.of()
        : models.stream()
            .filter(model -> model.parent() == null)
            .map(ServedModel::id)
            .distinct()
            .toList();
  }

  /** What it was started with for a model; null if it does not say. */
  @Nullable String root(String model) {
    for (ServedModel served : models == null ? List.<ServedModel>of() : models) {
      if (served.id().equals(model)) {
        return served.root();
      }
    }
    return null;
  }

  /** Names of the base models that it and the other one serve. */
  public List<String> sharedModels(HttpFacts other) {
    List<String> theirs = other.baseModels();
    return baseModels().stream().filter(theirs::contains).toList();
  }

  /** Longest prompt and answer of its models; 0 if it does not say. */
  public int maxModelTokens() {
    return models == null ? 0 : models.stream().mapToInt(ServedModel::maxTokens).max().orElse(0);
  }

  /** Where {@code rank} publishes, if the engine says that. */
  public Optional<Source> source(int rank) {
    return sources == null
        ? Optional.empty()
        : sources.stream().filter(source -> source.rank() == rank).findFirst();
  }

  /** Which engine answers, by its routes and metrics. */
  enum EngineKind {
    VLLM("vLLM"),
    SGLANG("SGLang"),
    /** It does not say. */
    OTHER("an engine that does not say its name");

    private final String label;

    EngineKind(String label) {
      this.label = label;
    }

    /** The name for people. */
    public String label() {
      return label;
    }
  }
}
