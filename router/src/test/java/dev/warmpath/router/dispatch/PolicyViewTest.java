package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static dev.warmpath.router.dispatch.World.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import dev.warmpath.tokenizer.PromptResult;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a policy is shown of a fleet, and what it is told. */
class PolicyViewTest {

  private final World world = new World("warm").with(3);
  private final Recorder recorder = new Recorder();

  PolicyViewTest() {
    world.dispatcher.policy(recorder);
  }

  @Test
  void showsWhatSlowerTiersAloneHold() {
    world.store("r0", 2, prompt(160));
    world.store("r0", 5, prompt(160), StorageTier.CPU);
    world.store("r0", 9, prompt(160), StorageTier.DISK);
    world.store("r1", 9, prompt(160), StorageTier.CPU);
    world.trust("r1", Trust.CATCHING_UP);
    world.dispatcher.explain(request(prompt(160)));
    assertThat(recorder.shown)
        .containsExactly("r0 144 host 48 disk 64", "r1 72 host 72 disk 0", "r2 0 host 0 disk 0");
  }

  /** vLLM's {@code max_load_tokens} and {@code kv_load_tiers}. */
  @Test
  void onlyTheGpuCountsForARequestThatLimitsLoads() {
    world.store("r0", 2, prompt(160));
    world.store("r0", 5, prompt(160), StorageTier.CPU);
    world.store("r1", 9, prompt(160), StorageTier.CPU);
    world.dispatcher.explain(request(prompt(160).onGpuOnly()));
    assertThat(recorder.shown)
        .containsExactly("r0 32 host 0 disk 0", "r1 0 host 0 disk 0", "r2 0 host 0 disk 0");
  }

  @Test
  void whatIsOnItsWayCountsAsHeldOnTheGpu() {
    world.store("r0", 4, prompt(160), StorageTier.CPU);
    world.assign(prompt(160));
    world.dispatcher.explain(request(prompt(160)));
    assertThat(recorder.shown).contains("r0 160 host 64 disk 0");
  }

  @Test
  void showsTheRoomOfEachRankInTokens() {
    world.replica("r1").gpuBlocks(1000);
    world.dispatcher.explain(request(prompt(160)));
    assertThat(recorder.capacities).containsExactly(0L, 16_000L, 0L);
    assertThat(recorder.weights).containsExactly(1.0, 1.0, 1.0);
  }

  @Test
  void showsWaitingAndRunningRequests() {
    recorder.winner = 1;
    Assignment first = world.assign(prompt(160));
    world.assign(prompt(160));
    first.firstToken();
    world.dispatcher.explain(request(prompt(160)));
    assertThat(recorder.queues).containsExactly("0+0", "1+1", "0+0");
    assertThat(world.report("r1").state().load().requestsWaiting()).isEqualTo(1);
  }

  @Test
  void showsTheBlocksOfThePrompt() {
    world.dispatcher.explain(request(prompt(170)));
    BlockChain chain = BlockChain.of(World.SPACE, prompt(170).sequences().get(0), PromptKeys.NONE);
    assertThat(recorder.blockSizeTokens).isEqualTo(16);
    assertThat(recorder.keys)
        .containsExactly(IntStream.range(0, 10).mapToLong(chain::blockKey).toArray());
    world.dispatcher.explain(request((PromptResult) null));
    assertThat(recorder.keys).isEmpty();
  }

  @Test
  void anEngineNumberIsNeverGivenAgain() {
    world.dispatcher.explain(request(prompt(160)));
    assertThat(recorder.numbers).containsExactly(0, 1, 2);
    world.fleet.change(List.of(world.fleet.find("r1").orElseThrow()), List.of());
    Replica ranks = new Replica("r1", URI.create("http://h"), Set.of("m"), 2);
    ranks.health(Replica.Health.UP);
    world.fleet.add(ranks);
    world.dispatcher.explain(request(prompt(160)));
    assertThat(recorder.numbers).containsExactly(0, 2, 3, 4);
  }

  @Test
  void tellsOfEachReservationOnceAndOfNoExplanation() {
    recorder.winner = 2;
    world.dispatcher.explain(request(prompt(160)));
    world.assign(prompt(160));
    world.dispatcher.assign(request("unknown", prompt(160)), Set.of());
    assertThat(recorder.committed).containsExactly("r2");
  }

  @Test
  void aPolicyThatFailsToRememberHoldsNothingBack() {
    recorder.broken = true;
    assertThatThrownBy(() -> world.assign(prompt(160))).hasMessage("broken");
    assertThat(world.report("r0").state().load()).isEqualTo(Load.NONE);
    assertThat(world.report("r0").state().expectedBlocks().expected()).isZero();
  }

  @Test
  void itSeesHowMuchTheIndexShowsOnAnEngineThatIsBelieved() {
    world.store("r0", 10, prompt(160, 0, 1, 0));
    world.store("r0", 4, prompt(64, 0, 2, 0));
    world.assign(prompt(160));
    assertThat(recorder.held).containsExactly(16L * 14, 0L, 0L);
    world.trust("r0", Trust.SUSPECT);
    world.store("r1", 2, prompt(32), StorageTier.CPU);
    world.assign(prompt(160));
    assertThat(recorder.held).containsExactly(Candidates.UNKNOWN, Candidates.UNKNOWN, 0L);
  }

  /** Writes down what it is shown at the last choice. */
  private static final class Recorder implements Policy {
    private final List<String> shown = new ArrayList<>();
    private final List<Long> capacities = new ArrayList<>();
    private final List<Long> held = new ArrayList<>();
    private final List<Double> weights = new ArrayList<>();
    private final List<String> queues = new ArrayList<>();
    private final List<Integer> numbers = new ArrayList<>();
    private final List<String> committed = new ArrayList<>();
    private long[] keys = {};
    private int blockSizeTokens;
    private int winner;
    private boolean broken;

    @Override
    public String name() {
      return "recorder";
    }

    @Override
    public int choose(RoutingRequest request, Candidates candidates) {
      List.of(shown, capacities, held, weights, queues, numbers).forEach(List::clear);
      for (int row = 0; row < candidates.count(); row++) {
        shown.add(
            candidates.name(row)
                + (" " + candidates.creditTokens(row))
                + (" host " + candidates.hostTokens(row))
                + (" disk " + candidates.diskTokens(row)));
        capacities.add(candidates.capacityTokens(row));
        held.add(candidates.heldTokens(row));
        weights.add(candidates.weight(row));
        queues.add(candidates.waiting(row) + "+" + candidates.running(row));
        numbers.add(candidates.number(row));
      }
      blockSizeTokens = request.blocks().blockSizeTokens();
      keys =
          IntStream.range(0, request.blocks().count()).mapToLong(request.blocks()::key).toArray();
      return winner;
    }

    @Override
    public String reason(RoutingRequest request, Candidates candidates, int row) {
      return "told";
    }

    @Override
    public Score score(RoutingRequest request, Candidates candidates, int row) {
      return Score.of();
    }

    @Override
    public long[] committed(RoutingRequest request, Candidates candidates, int row) {
      if (broken) {
        throw new IllegalStateException("broken");
      }
      committed.add(candidates.name(row));
      return NOTHING;
    }
  }
}
