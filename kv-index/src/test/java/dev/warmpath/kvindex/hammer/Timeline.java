package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.model.ReferenceModel;
import dev.warmpath.kvindex.proof.Side;
import dev.warmpath.kvindex.workload.Script;
import dev.warmpath.kvindex.workload.Step;
import dev.warmpath.kvindex.workload.Step.Arrive;
import dev.warmpath.kvindex.workload.Step.Clear;
import dev.warmpath.kvindex.workload.Step.Compute;
import dev.warmpath.kvindex.workload.Step.Confirm;
import dev.warmpath.kvindex.workload.Step.Leave;
import dev.warmpath.kvindex.workload.Step.Store;
import dev.warmpath.kvindex.workload.Step.Suspend;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * All states that the model passes through in a script, and its answer to each question in each.
 *
 * <p>A state is a number. Inside a step, each block makes a state of its own. A store that gives
 * names to blocks that had none, or confirms suspended ones, may do so at any time until it ends.
 *
 * <p>Immutable.
 */
final class Timeline {

  private final Script script;
  private final int engines;
  private final boolean clearsAtOnce;
  private final List<History> histories = new ArrayList<>();
  private final int[] lastStates;
  private final Side<KvIndex> model;
  private int states;

  Timeline(Script script, boolean clearsAtOnce) {
    this.script = script;
    this.clearsAtOnce = clearsAtOnce;
    engines = (int) script.steps().stream().filter(Arrive.class::isInstance).count();
    lastStates = new int[script.steps().size()];
    script.questions().forEach(question -> histories.add(new History()));
    model =
        new Side<>(
            new ReferenceModel(script.maxOrphans(), () -> record(answers())),
            UnaryOperator.identity());
    record(answers());
    for (int i = 0; i < lastStates.length; i++) {
      play(script.steps().get(i));
      lastStates[i] = states - 1;
    }
  }

  /** Number of engines that arrive. */
  int engines() {
    return engines;
  }

  /** Number of states; the last one is like the first. */
  int states() {
    return states;
  }

  /** The state after a step. */
  int lastState(int step) {
    return lastStates[step];
  }

  /** The step that is done in this state. */
  Step step(int state) {
    int found = Arrays.binarySearch(lastStates, state);
    return script.steps().get(Math.min(lastStates.length - 1, found < 0 ? -found - 1 : found));
  }

  /** The different answers to a question from one state to another, by engine. */
  List<Answer> answers(int question, int from, int to) {
    return histories.get(question).between(from, to);
  }

  private void play(Step step) {
    List<Answer> before = answers();
    int engine = engine(step);
    long nameless = nameless(engine);
    long suspended = suspended(engine);
    model.apply(step);
    List<Answer> after = answers();
    boolean gains = step instanceof Store || step instanceof Confirm || step instanceof Compute;
    boolean gradual =
        gains ? nameless(engine) < nameless || suspended(engine) < suspended : !clearsAtOnce;
    if (engine >= 0 && gradual) {
      List<Answer> between = new ArrayList<>();
      for (int i = 0; i < before.size(); i++) {
        between.add(before.get(i).onTheWay(after.get(i), engine));
      }
      record(between);
    }
    record(after);
  }

  private void record(List<Answer> answers) {
    for (int i = 0; i < answers.size(); i++) {
      histories.get(i).add(states, answers.get(i));
    }
    states++;
  }

  private List<Answer> answers() {
    return script.questions().stream().map(this::answer).toList();
  }

  private Answer answer(BlockChain question) {
    int tiers = StorageTier.values().length;
    int[] bySlot = Answer.seen(model.answer(question), engines);
    int[] byEngine = new int[engines * tiers];
    for (Map.Entry<Integer, Integer> engine : model.slots().entrySet()) {
      System.arraycopy(bySlot, engine.getValue() * tiers, byEngine, engine.getKey() * tiers, tiers);
    }
    return Answer.exactly(byEngine);
  }

  /** The engine that may gain or lose much in this step, or −1. */
  private static int engine(Step step) {
    if (step instanceof Leave leave) {
      return leave.engine();
    } else if (step instanceof Clear clear) {
      return clear.engine();
    } else if (step instanceof Suspend suspend) {
      return suspend.engine();
    } else if (step instanceof Confirm confirm) {
      return confirm.engine();
    } else if (step instanceof Compute compute) {
      return compute.names().engine();
    }
    return step instanceof Store store ? store.engine() : -1;
  }

  private long suspended(int engine) {
    Integer slot = model.slots().get(engine);
    return slot == null ? 0 : model.index().stats(slot).suspendedBlocks();
  }

  private long nameless(int engine) {
    Integer slot = model.slots().get(engine);
    if (slot == null) {
      return 0;
    }
    EngineStats stats = model.index().stats(slot);
    return stats.heldBlocks() - stats.namedBlocks();
  }
}
