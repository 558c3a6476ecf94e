/// Keys that were made for these tests alone, by the Python package cryptography; their thumbprints (RFC 7638) by joserfc.
enum ClientKeySamples {
    struct Sample: Sendable, CustomStringConvertible {
        let description: String
        let thumbprint: String
        let pem: String
    }

    static let all = [
        Sample(
            description: "EC in PKCS #8", thumbprint: "82h1vM3iMUFLPcj6Yd0BH-3rjzW4ZOoabh7C0SR1Tdc",
            pem: """
                -----BEGIN PRIVATE KEY-----
                MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDSMIQUGjnur4JJ4T61
                Cuj3iLygrpqiNtewP/7J4LQdjQs2MghU4qNBtGcC1zi0HfmhZANiAAQORNkvFPwS
                E+zPmqEhvKY84Yh8yFteZMenHWwDo6DGoNaqRl9e1FhmbzE1ApYQ00r9oWwUBLQM
                oOij7Ke/C7ZwuC3+Ja5lExxrvxkfy0IyAUuIoUqOMScrAjPhzTE4wrU=
                -----END PRIVATE KEY-----
                """),
        Sample(
            description: "EC in SEC 1", thumbprint: "82h1vM3iMUFLPcj6Yd0BH-3rjzW4ZOoabh7C0SR1Tdc",
            pem: """
                -----BEGIN EC PRIVATE KEY-----
                MIGkAgEBBDDSMIQUGjnur4JJ4T61Cuj3iLygrpqiNtewP/7J4LQdjQs2MghU4qNB
                tGcC1zi0HfmgBwYFK4EEACKhZANiAAQORNkvFPwSE+zPmqEhvKY84Yh8yFteZMen
                HWwDo6DGoNaqRl9e1FhmbzE1ApYQ00r9oWwUBLQMoOij7Ke/C7ZwuC3+Ja5lExxr
                vxkfy0IyAUuIoUqOMScrAjPhzTE4wrU=
                -----END EC PRIVATE KEY-----
                """),
        Sample(
            description: "RSA in PKCS #8", thumbprint: "_BJX15rq_ZYVebl8dQCWupMP0srvkiS5vuHd0Ixl8j8",
            pem: """
                -----BEGIN PRIVATE KEY-----
                MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQCfl4FEEB6eCFj4
                K7yJd2ivMObavdvtOdES8eei26TXo1YA3ejiHM52IUQe+FOJQzf1W+genF7JFmw6
                3o4xmL5CDoxfEnjQFpugXjfIrzhkNap+7vqnRMS8EJk1n/KOlHsxl2EMgf+pCXHM
                0qiWJ5T3bIITpqxlWijK3SMFULkrfoYl6Unz53Y6qM5VkQLBdQ6XhJkb+8rHvps/
                9vEuLxXbN5nmUCoFjWDr5u8lk3wVzhW2Lb7h9/1zGzFQPXZ1YxUlCIpcO7K8cCS0
                mARK5DZtVvJqwFz0P0V8Xu3E+E2eTRqc86wFys+2wpwA9hj9LOH+BhgALxDJbBe5
                TP3ZB3wTAgMBAAECggEAIF2Odqo6O1yABpyAGPThgx4Mw3Hbp0mhcBElI+8diCn0
                6CoY77pd2LE4ant8HYtHTvg7o/Gce3WTr4CxH7fVZfojV6icXb8oAqb48zct3YzQ
                rftzU/brWySWnbx5aZcNQOptYScAHVzv+lUCoakXWfJkku2rasaVHUcpsgtD8mDd
                ago/xqGmA1wiLWboDr0RQ6CeacwWxVeD24k5wu6NfJ6U8j7NMguJn8meEzMT1dYb
                xshPQquHADEcmzElMJO561bmcucH/dmDgNYh5dMpo0EqiiByrsO2/VbDf+/JBUlZ
                v3vWuqLhEpvQz8/pxS7oKNGzt7RHIw/h/Onm1CeFcQKBgQDT9ri9EcaUgE4EJH3o
                g2Pl0N5Rw5aBosAQIdYf1U6EpnARGDpUklFTkfbd6uP47aiRWHoe3AilyXXtxiZ3
                Smoq2QFuxvN3494DMB7VIgom6V7DqyJU7gRXWyVh8GWgeli6xQiKdraoPpmocumi
                vk9TQcm7tGxUBsS7/NZiD7kqewKBgQDAv2KYJ0SPbMSUu09wWL3HFtrwGn/4gk8g
                1WptnCGQx3OpEh7b2Qjwfem2uX+DSxZdsRTfs3GI8CiSLUZt+42QMSl0V6MgE0Tj
                C/uMf/zz8duuGP1DHQwItYpZkISPCKxz2+TsxjFDbVtKvO+FOph/7cJF4yw26HaH
                xWcR2yxtSQKBgBwsdBu1bCa68yO70fyA0ltuqs5FaBDtGAhM5xAuIxSgps6u4Lnz
                BNpN0XlnykuBE2HWV80YRBH9OC6VovFCM+BkHbuiuCPcZtsXn1GHB8BqTo1Fhvew
                92TBGbPt5yQwfvC8VclJxDeSsovgUkuubg7L9Mt9TNTSXX37OmeoXV1XAoGAUgUe
                /4A2PJIcVO4gL76Tg1TGdcXRDv7kjSRD1cDKx8EYBqofV45Tr4LlIUxuZoBdVCE2
                sLq7ZXpMyWdawRJ6exFwgoGIeO26MqO2t2L/UQ9qW/tmSljh9hLKfLJytisKt4Kr
                N9ZewEKYxoT/p8H3gvi54uN4vSTOy5fE9GQ/04ECgYAOyyYzKet6yjEPc5nzzBdn
                3NgVmlE1buYWfQfZVzYtyKhkSt9MRbcPaSpY7X2qVqsbsOnrcbHeojv1drNm/ULa
                8xNR8/6Yb/5ezjRaZ2RU0asJqTyZNNuZ6fG/Y+K1gJffCUg64rUXBtAtV1HhB9Li
                MpPIK/ZG3k9EnzF3bDNvQw==
                -----END PRIVATE KEY-----
                """),
        Sample(
            description: "RSA in PKCS #1", thumbprint: "_BJX15rq_ZYVebl8dQCWupMP0srvkiS5vuHd0Ixl8j8",
            pem: """
                -----BEGIN RSA PRIVATE KEY-----
                MIIEogIBAAKCAQEAn5eBRBAenghY+Cu8iXdorzDm2r3b7TnREvHnotuk16NWAN3o
                4hzOdiFEHvhTiUM39VvoHpxeyRZsOt6OMZi+Qg6MXxJ40BaboF43yK84ZDWqfu76
                p0TEvBCZNZ/yjpR7MZdhDIH/qQlxzNKolieU92yCE6asZVooyt0jBVC5K36GJelJ
                8+d2OqjOVZECwXUOl4SZG/vKx76bP/bxLi8V2zeZ5lAqBY1g6+bvJZN8Fc4Vti2+
                4ff9cxsxUD12dWMVJQiKXDuyvHAktJgESuQ2bVbyasBc9D9FfF7txPhNnk0anPOs
                BcrPtsKcAPYY/Szh/gYYAC8QyWwXuUz92Qd8EwIDAQABAoIBACBdjnaqOjtcgAac
                gBj04YMeDMNx26dJoXARJSPvHYgp9OgqGO+6XdixOGp7fB2LR074O6PxnHt1k6+A
                sR+31WX6I1eonF2/KAKm+PM3Ld2M0K37c1P261sklp28eWmXDUDqbWEnAB1c7/pV
                AqGpF1nyZJLtq2rGlR1HKbILQ/Jg3WoKP8ahpgNcIi1m6A69EUOgnmnMFsVXg9uJ
                OcLujXyelPI+zTILiZ/JnhMzE9XWG8bIT0KrhwAxHJsxJTCTuetW5nLnB/3Zg4DW
                IeXTKaNBKoogcq7Dtv1Ww3/vyQVJWb971rqi4RKb0M/P6cUu6CjRs7e0RyMP4fzp
                5tQnhXECgYEA0/a4vRHGlIBOBCR96INj5dDeUcOWgaLAECHWH9VOhKZwERg6VJJR
                U5H23erj+O2okVh6HtwIpcl17cYmd0pqKtkBbsbzd+PeAzAe1SIKJulew6siVO4E
                V1slYfBloHpYusUIina2qD6ZqHLpor5PU0HJu7RsVAbEu/zWYg+5KnsCgYEAwL9i
                mCdEj2zElLtPcFi9xxba8Bp/+IJPINVqbZwhkMdzqRIe29kI8H3ptrl/g0sWXbEU
                37NxiPAoki1GbfuNkDEpdFejIBNE4wv7jH/88/Hbrhj9Qx0MCLWKWZCEjwisc9vk
                7MYxQ21bSrzvhTqYf+3CReMsNuh2h8VnEdssbUkCgYAcLHQbtWwmuvMju9H8gNJb
                bqrORWgQ7RgITOcQLiMUoKbOruC58wTaTdF5Z8pLgRNh1lfNGEQR/TgulaLxQjPg
                ZB27orgj3GbbF59RhwfAak6NRYb3sPdkwRmz7eckMH7wvFXJScQ3krKL4FJLrm4O
                y/TLfUzU0l19+zpnqF1dVwKBgFIFHv+ANjySHFTuIC++k4NUxnXF0Q7+5I0kQ9XA
                ysfBGAaqH1eOU6+C5SFMbmaAXVQhNrC6u2V6TMlnWsESensRcIKBiHjtujKjtrdi
                /1EPalv7ZkpY4fYSynyycrYrCreCqzfWXsBCmMaE/6fB94L4ueLjeL0kzsuXxPRk
                P9OBAoGADssmMynresoxD3OZ88wXZ9zYFZpRNW7mFn0H2Vc2LcioZErfTEW3D2kq
                WO19qlarG7Dp63Gx3qI79XazZv1C2vMTUfP+mG/+Xs40WmdkVNGrCak8mTTbmenx
                v2PitYCX3wlIOuK1FwbQLVdR4QfS4jKTyCv2Rt5PRJ8xd2wzb0M=
                -----END RSA PRIVATE KEY-----
                """),
    ]

    /// Of 1024 bits.
    static let shortRSA = """
        -----BEGIN PRIVATE KEY-----
        MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGBAJ61btyNtGpJhUjM
        xHwvdNSlTbLcBP15jtbE43fvTzXdWK2ZmiLstgxceu186z003ZIo6U8u1htF8Wfe
        JkwkUMiya8ZIOzX0EfbaFme5smsXE0dsl688DxmJbW/ZrJiw4CvGTEN3ValQd1q8
        a0zfqwsV+gwk6XFFPHDOc50O3uwxAgMBAAECgYAeyCPLZTST1NSkDQsi5vVq9PC/
        +wqAux3oK+HOdjzPvrGfYgZSNcUNWraA71SU13cODR9LO1NNkOBEfALDi9ua80W2
        U37ENdTItM54Zohvdr/p9+ECcBazOY1qvS+w5rnKOIsj7EcMm/8WA4VNNrSzkcza
        xeXYLKv7MHKMv7aqfQJBAMxDWnwW0N8/LO9NHYq+fkSPjUt9PgGwMEFVpYugZg2I
        JIVRSLSWG1PhR3uSb+tNHI8SUtOUhLoQZo7+dYjK6tcCQQDG6Eh83n6lq6+kg58I
        h2kfdkd569odhwYd95nBVze5n/1g5SNqQOVvDFZZAkGYG2x+J+YNv9269hFJy3NT
        Vkg3AkAhGZkEGr5mLtqdPKXY4d2cRpbi8LynkWGAdNyKr8dZ0gH5CJ77hIeRJCRt
        ReGVA73pAVMiriKD9DxqV5m8PQWpAkAxf5qSYHgZ2EjEYvDPmYsChlexMo077d8K
        1BQSNhcq/XJ7i2otxeqSoPpX+iTCqohsOJeaclXGcffJanTPl1gvAkAvvogGCasq
        QV5Bc102XK6ueBjQV/jrgn7XJ3JwrjzryoCQxtBzdD2PHXwFuMqnjKEu+FDAvkje
        0XY67JPi6e2f
        -----END PRIVATE KEY-----
        """
}
