package dev.warmpath.tokenizer.encode;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AddedSpecialsTest {

  private static final String BOTH =
      "{'type':'TemplateProcessing','single':[{'SpecialToken':{'id':'<s>','type_id':0}},"
          + "{'Sequence':{'id':'A','type_id':0}},{'SpecialToken':{'id':'</s>','type_id':0}}],"
          + "'pair':[],'special_tokens':{'<s>':{'id':'<s>','ids':[7],'tokens':['<s>']},"
          + "'</s>':{'id':'</s>','ids':[8,9],'tokens':['</s>','</s>']}}}";

  @Test
  void showsWhatIsAddedToTexts() {
    AddedSpecials added = around(BOTH);
    assertThat(added).isNotNull();
    assertThat(added.addTo(new int[] {1, 2})).containsExactly(7, 1, 2, 8, 9);
  }

  @Test
  void aPostProcessorThatOnlyLooksAtOffsetsAddsNothing() {
    AddedSpecials added =
        around("{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true,'use_regex':true}");
    assertThat(added).isNotNull();
    assertThat(added.count()).isZero();
  }

  private static AddedSpecials around(String postProcessor) {
    String json =
        TinyTokenizer.byteLevel("h e").split(TinyTokenizer.GPT2).around(postProcessor).json();
    try (TextEncoder encoder = TextEncoder.of(json)) {
      return AddedSpecials.of(encoder);
    }
  }
}
