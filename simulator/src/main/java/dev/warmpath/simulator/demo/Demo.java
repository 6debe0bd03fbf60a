package dev.warmpath.simulator.demo;

import dev.warmpath.simulator.terminal.ProgressBar;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Runs the same chats through the router under one policy after the other, each on fresh engines.
 * The last fleet, or all of them, stay up until {@link #close}.
 *
 * <p>Confined to one thread.
 */
public final class Demo implements AutoCloseable {

  private static final String LAST = "warm";
  private static final List<String> POLICIES = List.of("round-robin", LAST);

  private final DemoPlan plan;
  private final Duration idle;
  private final boolean keepsAll;
  private final Consumer<String> progress;
  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private final Map<String, DemoFleet> fleets = new LinkedHashMap<>();
  private final List<GentleLoad> loads = new ArrayList<>();

  /**
   * @param idle a request is given up when nothing of its answer came for so long
   * @param keepsAll whether the fleet of each policy stays up, and its console's address is shown
   * @param progress where the progress bar goes
   */
  public Demo(DemoPlan plan, Duration idle, boolean keepsAll, Consumer<String> progress) {
    this.plan = plan;
    this.idle = idle;
    this.keepsAll = keepsAll;
    this.progress = progress;
  }

  /** Runs all policies. */
  public DemoReport run() throws InterruptedException {
    Map<String, LoadReport> reports = new LinkedHashMap<>();
    for (String policy : POLICIES) {
      reports.put(policy, run(policy));
    }
    return new DemoReport(reports);
  }

  /** Gives each fleet that is up a gentle load until {@link #close}: the same chats for all. */
  public void keepServing() {
    fleets.values().forEach(fleet -> loads.add(new GentleLoad(plan, client(fleet))));
  }

  /** What can be tried by hand now. */
  public String invitation() {
    DemoFleet fleet = fleets.get(LAST);
    if (fleet == null) {
      throw new IllegalStateException("not running");
    }
    String url = fleet.url();
    String admin = fleet.adminUrl();
    String request =
        "{\"model\":\""
            + DemoPlan.MODEL
            + "\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
    return String.join(
        System.lineSeparator(),
        "",
        "A gentle load goes on, the same chats under each policy; end it with Ctrl-C.",
        consoles(),
        "Under the policy warm:",
        "  chat      curl -si "
            + url
            + "/v1/chat/completions -H 'content-type: application/json' \\",
        "              -d '" + request + "'",
        "  replicas  curl -s " + admin + "/admin/fleet",
        "  explain   curl -s " + admin + "/admin/explain -d '" + request + "'",
        "  metrics   curl -s " + admin + "/metrics",
        "");
  }

  /** The console of each router that is up: one page beside the other shows the difference. */
  private String consoles() {
    return fleets.entrySet().stream()
        .map(each -> "  console   " + page(each.getValue()) + "   (" + each.getKey() + ")")
        .collect(Collectors.joining(System.lineSeparator()));
  }

  private static String page(DemoFleet fleet) {
    return fleet.adminUrl() + "/admin/ui";
  }

  @Override
  public void close() {
    closeFleets();
    tokenizer.close();
  }

  private LoadReport run(String policy) throws InterruptedException {
    if (!keepsAll) {
      closeFleets();
    }
    DemoFleet started = new DemoFleet(tokenizer, plan.engine(), plan.replicas(), policy);
    fleets.put(policy, started);
    started.awaitReady();
    if (keepsAll) {
      progress.accept("watch " + policy + " at " + page(started) + System.lineSeparator());
    }
    ChatLoad load = plan.load();
    ProgressBar bar =
        new ProgressBar(
            progress, policy, load.requests(), ProgressBar.Unit.COUNT, System::nanoTime);
    return new LoadRun(load, client(started), plan.clients(), bar::show).run();
  }

  private ChatClient client(DemoFleet fleet) {
    return new ChatClient(fleet.url(), idle, System::nanoTime);
  }

  private void closeFleets() {
    loads.forEach(GentleLoad::close);
    loads.clear();
    fleets.values().forEach(DemoFleet::close);
    fleets.clear();
  }

  /**
   * Few chats at a time, until the end, so that a console has something to show: the demo's load
   * with other words in each round.
   *
   * <p>Thread-safe.
   */
  private static final class GentleLoad implements AutoCloseable {

    private static final int CLIENTS = 2;
    private static final long REST_SECONDS = 1;

    private final DemoPlan plan;
    private final ChatSender client;
    private final Thread thread;

    /** Begins at once. */
    GentleLoad(DemoPlan plan, ChatSender client) {
      this.plan = plan;
      this.client = client;
      thread = new Thread(this::run, "gentle-load");
      thread.setDaemon(true);
      thread.start();
    }

    @Override
    public void close() {
      thread.interrupt();
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void run() {
      try {
        for (int round = 1; true; round++) {
          new LoadRun(plan.gentleLoad(round), this::send, CLIENTS, done -> {}).run();
        }
      } catch (InterruptedException e) {
        return; // closed
      }
    }

    /** Rests after a failure, as when all replicas were drained on the console. */
    private ChatReply send(String body) {
      ChatReply reply = client.send(body);
      if (reply.error() != null) {
        try {
          TimeUnit.SECONDS.sleep(REST_SECONDS);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      return reply;
    }
  }
}
