package dev.warmpath.simulator.demo;

import dev.warmpath.simulator.demo.Chat.Turn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A load of chat sessions that arrive at random, whatever becomes of those before them. Each
 * belongs to a tenant, popular ones more often, whose system prompt its chat begins with. Within a
 * session the user reads an answer and thinks before the next turn.
 *
 * <p>Immutable; equal loads give equal sessions.
 *
 * @param perSecond mean arrivals of sessions; a Poisson process
 * @param seconds in which sessions arrive; the last ones end later
 * @param thinkSeconds mean time from the end of an answer to the next turn; exponential
 */
public record SessionLoad(
    String model, double perSecond, double seconds, double thinkSeconds, long seed) {

  private static final int TENANTS = 40;
  private static final double ZIPF_EXPONENT = 0.8;
  private static final Range SYSTEM_WORDS = new Range(400, 1_600);
  private static final Range TURNS = new Range(2, 6);
  private static final Range USER_WORDS = new Range(20, 250);
  private static final Range ANSWER_TOKENS = new Range(20, 100);
  private static final int MOST_SESSIONS = 20_000;

  /** Evenly distributed whole numbers, both ends included. */
  private record Range(int least, int most) {
    int draw(Random random) {
      return least + random.nextInt(most - least + 1);
    }
  }

  /**
   * One session.
   *
   * @param atSeconds when it arrives, from the begin of the load
   * @param tenant from 0, the most popular first
   * @param thinkSeconds before each turn but the first
   */
  record Session(
      int number, double atSeconds, int tenant, List<Turn> turns, List<Double> thinkSeconds) {}

  public SessionLoad {
    if (!(perSecond > 0 && seconds > 0 && perSecond * seconds <= MOST_SESSIONS)) {
      throw new IllegalArgumentException(
          "rate=%s seconds=%s must be positive and give at most %d sessions"
              .formatted(perSecond, seconds, MOST_SESSIONS));
    }
    if (!(thinkSeconds >= 0)) {
      throw new IllegalArgumentException("thinkSeconds=" + thinkSeconds);
    }
  }

  /** All sessions, in the order of their arrival. */
  List<Session> sessions() {
    Random random = new Random(seed);
    double[] popularity = popularity();
    List<Session> sessions = new ArrayList<>();
    double at = exponential(random, 1 / perSecond);
    while (at < seconds) {
      sessions.add(session(sessions.size(), at, tenant(popularity, random), random));
      at += exponential(random, 1 / perSecond);
    }
    return sessions;
  }

  /** The system prompts of the tenants. */
  List<String> systemPrompts() {
    Random sizes = new Random(-seed);
    List<String> prompts = new ArrayList<>();
    for (int tenant = 0; tenant < TENANTS; tenant++) {
      ChatWords words = ChatWords.ofTenant(seed, tenant);
      prompts.add("Tenant " + tenant + ". " + words.text(SYSTEM_WORDS.draw(sizes)));
    }
    return prompts;
  }

  /** The chat of a session, at its beginning. */
  Chat chat(Session session, List<String> systemPrompts) {
    return new Chat(
        new Chat.Identity(model, null, systemPrompts.get(session.tenant)),
        ChatWords.ofUser(seed, session.number),
        session.turns);
  }

  private Session session(int number, double at, int tenant, Random random) {
    int length = TURNS.draw(random);
    List<Turn> turns = new ArrayList<>();
    List<Double> thinking = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      turns.add(new Turn(USER_WORDS.draw(random), ANSWER_TOKENS.draw(random)));
      thinking.add(i == 0 ? 0.0 : exponential(random, thinkSeconds));
    }
    return new Session(number, at, tenant, turns, thinking);
  }

  /** The share of each tenant and of all more popular ones. */
  private static double[] popularity() {
    double[] shares = new double[TENANTS];
    Arrays.setAll(shares, i -> Math.pow(i + 1.0, -ZIPF_EXPONENT));
    double all = Arrays.stream(shares).sum();
    Arrays.setAll(shares, i -> shares[i] / all);
    Arrays.parallelPrefix(shares, Double::sum);
    return shares;
  }

  private static int tenant(double[] popularity, Random random) {
    int place = Arrays.binarySearch(popularity, random.nextDouble());
    return Math.min(TENANTS - 1, place < 0 ? -place - 1 : place);
  }

  private static double exponential(Random random, double mean) {
    return -mean * Math.log(1 - random.nextDouble());
  }
}
