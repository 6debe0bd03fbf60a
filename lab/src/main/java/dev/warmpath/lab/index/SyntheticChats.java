package dev.warmpath.lab.index;

import dev.warmpath.simulator.trace.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A synthetic conversation workload: chats begin with one of a few shared system prompts, popular
 * ones more often, and grow from turn to turn; each turn asks for the whole chat so far.
 *
 * <p>Sizes follow the Mooncake conversation trace: about 90 blocks of 128 tokens a request, most of
 * them fresh.
 *
 * @param requests how many
 * @param systemPrompts how many different system prompts
 * @param openChats chats that take turns at a time
 * @param seed of all random choices
 */
record SyntheticChats(int requests, int systemPrompts, int openChats, long seed) {

  private static final double REQUESTS_PER_SECOND = 3.4;
  private static final double LAST_TURN = 0.35;
  private static final int MAX_BLOCKS = 900;

  Trace trace() {
    Random random = new Random(seed);
    PromptTrace trace = new PromptTrace();
    List<int[]> systems = new ArrayList<>();
    for (int i = 0; i < systemPrompts; i++) {
      systems.add(trace.grow(new int[0], 1 + random.nextInt(16)));
    }
    List<int[]> chats = new ArrayList<>();
    double seconds = 0;
    for (int i = 0; i < requests; i++) {
      seconds -= Math.log(1 - random.nextDouble()) / REQUESTS_PER_SECOND;
      int[] chat = takeTurn(chats, systems, trace, random);
      trace.request(seconds, chat);
      if (chat.length < MAX_BLOCKS && random.nextDouble() >= LAST_TURN) {
        chats.add(chat);
      }
    }
    return trace.build();
  }

  /** One more turn of an open chat, or the first of a new one. */
  private int[] takeTurn(List<int[]> chats, List<int[]> systems, PromptTrace trace, Random random) {
    if (chats.size() > random.nextInt(openChats)) {
      int[] chat = chats.remove(random.nextInt(chats.size()));
      return trace.grow(chat, 1 + random.nextInt(30));
    }
    int popular = (int) (systems.size() * Math.pow(random.nextDouble(), 3));
    int blocks = (int) Math.min(MAX_BLOCKS, 1 - 65 * Math.log(1 - random.nextDouble()));
    return trace.grow(systems.get(popular), blocks);
  }
}
