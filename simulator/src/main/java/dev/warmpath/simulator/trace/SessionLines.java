package dev.warmpath.simulator.trace;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;

/**
 * A session a line: {@code {"start": seconds, "system": NAME, "system_tokens": n, "turns":
 * [{"think": seconds, "in": new tokens, "out": tokens}, …]}}. Sessions with equal {@code system}
 * begin with the same prompt; each turn's prompt is all before it, with the answers, and what is
 * new.
 */
final class SessionLines implements TraceFormat.Lines {

  private static final int BLOCK_TOKENS = 16;

  private final Map<String, Integer> systems = new HashMap<>();
  private int nextBlock;
  private int sessions;

  @Override
  public void line(String text, TraceBuilder trace) {
    JsonNode line = TraceFile.object(text);
    int systemTokens = line.path("system_tokens").asInt(0);
    int systemBlocks = systemTokens / BLOCK_TOKENS;
    String system = line.path("system").asText("") + "/" + systemTokens;
    int systemFirst = systems.computeIfAbsent(system, name -> numbers(systemBlocks));
    int session = sessions++;
    int prompt = systemTokens;
    int before = Trace.NONE;
    int own = 0;
    for (JsonNode turn : line.path("turns")) {
      int answer = TraceFormat.whole(turn, "out");
      prompt += TraceFormat.whole(turn, "in");
      double seconds =
          before == Trace.NONE
              ? TraceFormat.number(line, "start")
              : TraceFormat.number(turn, "think");
      int number = trace.requests();
      trace.request(seconds, before, session, prompt, answer);
      if (before == Trace.NONE) {
        trace.blocks(systemFirst, systemBlocks);
      } else {
        trace.blocksOf(before, systemBlocks + own);
      }
      int grown = prompt / BLOCK_TOKENS - systemBlocks - own;
      trace.blocks(numbers(grown), grown);
      own += grown;
      before = number;
      prompt += answer;
    }
    if (before == Trace.NONE) {
      throw new IllegalArgumentException("no 'turns'");
    }
  }

  private int numbers(int count) {
    int first = nextBlock;
    nextBlock += count;
    return first;
  }
}
