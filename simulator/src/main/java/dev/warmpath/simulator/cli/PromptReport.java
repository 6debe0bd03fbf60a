package dev.warmpath.simulator.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import java.io.PrintStream;
import java.util.Arrays;

/**
 * One prompt as its text, its tokens and the keys of its blocks.
 *
 * @param space where the block keys live
 */
record PromptReport(ChainSpace space, PromptResult result) {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** Whether there are tokens to show. */
  public boolean exact() {
    return result instanceof Tokens;
  }

  /** The report as one JSON object. */
  public ObjectNode json() {
    ObjectNode json = MAPPER.createObjectNode().put("model", space.model());
    if (result instanceof Inexact inexact) {
      json.putObject("inexact")
          .put("reason", inexact.cause().label())
          .put("detail", inexact.detail());
    } else if (result instanceof Tokens tokens) {
      putTokens(json, tokens);
    }
    return json;
  }

  /** Prints the report for people. */
  public void print(PrintStream out) {
    if (result instanceof Inexact inexact) {
      out.println("not exact: " + inexact.cause().label() + ": " + inexact.detail());
    } else if (result instanceof Tokens tokens) {
      if (tokens.text() != null) {
        out.println(tokens.text());
        out.println();
      }
      int[] ids = tokens.sequences().get(0);
      out.println(ids.length + " tokens: " + Arrays.toString(ids));
      BlockChain chain = chain(tokens);
      out.println(chain.blocks() + " full blocks of " + space.blockSizeTokens() + " tokens");
      for (int block = 0; block < chain.blocks(); block++) {
        out.printf("%5d  %016x%n", block, chain.blockKey(block));
      }
    }
  }

  private void putTokens(ObjectNode json, Tokens tokens) {
    json.put("text", tokens.text());
    int[] ids = tokens.sequences().get(0);
    json.put("tokens", ids.length);
    Arrays.stream(ids).forEach(json.putArray("tokenIds")::add);
    json.put("blockSizeTokens", space.blockSizeTokens());
    BlockChain chain = chain(tokens);
    var keys = json.putArray("blockKeys");
    for (int block = 0; block < chain.blocks(); block++) {
      keys.add("%016x".formatted(chain.blockKey(block)));
    }
    json.put("readsCache", tokens.readsCache());
    json.put("comparable", tokens.comparable());
  }

  private BlockChain chain(Tokens tokens) {
    return BlockChain.of(space, tokens.sequences().get(0), tokens.keys());
  }
}
